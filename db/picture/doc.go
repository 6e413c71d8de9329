// Package picture looks at what people upload and makes what is published from
// it. It tells types by bytes and by nothing else, measures a file before it
// decodes any pixel, and writes pictures upright and without metadata. It also
// paints the pictures of the demo.
//
// What it promises about untrusted bytes: nothing is decoded beyond the Limits;
// work in progress together stays within Limits.Memory; a decoder that panics
// costs its caller an error and not the process. For the last, everything runs
// on the caller's goroutine: a panic on another one can not be recovered, so
// libraries that scale in parallel (disintegration/imaging among them) have no
// place here. The standard decoders and golang.org/x/image start none.
//
// What it refuses, it refuses as a *model.Refusal: one sentence with the rule.
// Start with inspect.go, then darkroom.go.
package picture
