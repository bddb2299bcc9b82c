"""From Python source to IR: reading kernels, refusing what they lack, lowering the rest."""
