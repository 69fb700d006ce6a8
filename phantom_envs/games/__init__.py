"""One folder, one game; each knows only `phantom_envs.core`."""
