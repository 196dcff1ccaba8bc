"""The chapter on TeaFarm: who is misled, by which judge, and in which form."""
