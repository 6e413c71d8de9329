package network

// The codes of problems: short, stable, and safe to test for.
const (
	PostEmpty       = "post_empty"
	FormatUnknown   = "format_unknown"
	TextTooLong     = "text_too_long"
	ThreadTooLong   = "thread_too_long"
	TextNotShown    = "text_not_shown"
	TextNotUTF8     = "text_not_utf8"
	TextControl     = "text_control"
	TextBarred      = "text_barred"
	HashtagsTooMany = "hashtags_too_many"
	MentionsTooMany = "mentions_too_many"
	LinksTooMany    = "links_too_many"
	CommentNotTaken = "comment_not_taken"
	CommentTooLong  = "comment_too_long"
	LinkNotTaken    = "link_not_taken"
	LinkInvalid     = "link_invalid"
	MediaMissing    = "media_missing"
	MediaTooMany    = "media_too_many"
	MediaMixed      = "media_mixed"
	MediaWrongKind  = "media_kind"
	MediaType       = "media_type"
	MediaTooLarge   = "media_too_large"
	MediaPixels     = "media_pixels"
	MediaTooSmall   = "media_too_small"
	MediaShape      = "media_shape"
	MediaTooShort   = "media_too_short"
	MediaTooLong    = "media_too_long"
	MediaUnknown    = "media_unknown" // a size or duration that could not be read
	MediaCropped    = "media_cropped" // by Herald, since the network wants another shape
	MediaStilled    = "media_stilled" // a picture that moves is sent as a still one
	MediaNotReady   = "media_not_ready"
	MediaNotMade    = "media_not_made" // its rendition failed
	AltMissing      = "alt_missing"
	AltTooLong      = "alt_too_long"
	OptionUnknown   = "option_unknown"
	OptionInvalid   = "option_invalid"
	OptionMissing   = "option_missing"
	OptionTooLong   = "option_too_long"
	OptionClash     = "option_clash"
)

// Blocks says whether any problem keeps the post from going out.
func Blocks(problems []Problem) bool {
	for _, p := range problems {
		if !p.Warn {
			return true
		}
	}
	return false
}
