"""Training scripts that read from top to bottom: `python -m training.ppo`, `python -m training.sb3_maskable_ppo`."""
