"""Tests of diagnostics: agreement of chains, cross-checks, intervals and log Z."""
