// Package wordings draws the screens on which hashtag groups, snippets and
// templates are kept. What the composer shows of them is in views/composer.
package wordings
