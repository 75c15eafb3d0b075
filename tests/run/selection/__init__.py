"""Tests of how a method is chosen: plans, `auto`, recommendations and escalation."""
