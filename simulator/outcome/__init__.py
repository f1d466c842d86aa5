"""From what was simulated to what is told: results, MFU, dollars, energy, deadlines and how sure they are."""
