package counting

// Settle returns when no count runs and what was counted is kept.
func (c *Counts) Settle() { c.running.Wait() }
