"""Names of the kernel language: signatures and docs for editors; the frontend has the meaning."""
