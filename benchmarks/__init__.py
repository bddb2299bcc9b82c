"""What firebrick costs, as ratios against peers that are measured in the same process."""
