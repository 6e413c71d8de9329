package handlers_test

import "herald/db/dbtest"

func slotRemovals(_ *grounds, own, of dbtest.Holding) []try {
	path := func(h dbtest.Holding) string { return at(own, "/accounts/"+id(h.Account)+"/slots/removals") }
	return []try{
		{name: "slot", path: path(own), form: fields("slot", id(of.Slot))},
		{name: "account", path: path(of), form: fields("slot", id(own.Slot))},
	}
}

func slotCopies(_ *grounds, own, of dbtest.Holding) []try {
	path := func(h dbtest.Holding) string { return at(own, "/accounts/"+id(h.Account)+"/slots/copies") }
	return []try{
		{name: "account", path: path(of), form: fields("from", id(own.Account))},
		{name: "from", path: path(own), form: fields("from", id(of.Account))},
	}
}

// keptCopies are of a post. What they say of accounts and files is read when the form
// is drawn again.
func keptCopies(_ *grounds, own, of dbtest.Holding) []try {
	return []try{{name: "post", path: at(own, "/posts/copies"), form: fields("copy", "key-of-a-form-0123456789", "post", id(of.Draft), "seen", "1", "text", "Typed")}}
}
