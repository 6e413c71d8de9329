package networks

// FoundIt is the finding that r is the post.
func FoundIt(r Receipt, say string) Finding { return Finding{Verdict: Found, Receipt: r, Say: say} }

// NotThere is the finding that nothing was published.
func NotThere(say string) Finding { return Finding{Verdict: Absent, Say: say} }

// Unsure is the finding that nothing is proved either way.
func Unsure(say string) Finding { return Finding{Verdict: CantTell, Say: say} }
