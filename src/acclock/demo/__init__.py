"""The main job, shown on people who do not exist."""
