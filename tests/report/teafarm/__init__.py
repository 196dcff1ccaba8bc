"""Tests of the chapter on TeaFarm."""
