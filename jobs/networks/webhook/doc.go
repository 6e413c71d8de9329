// Package webhook delivers a post to an address of the client's, signed, so that
// a program of theirs can publish it wherever they like.
//
// # The delivery
//
// Commit call: one POST to the account's address, through the guarded client.
//
//	POST /hook HTTP/1.1
//	Content-Type: application/json
//	X-Event: post.publish
//	X-Delivery-Id: 5f0c…           the same over all attempts of a post
//	X-Attempt: 1                   grows with each attempt
//	X-Timestamp: 1777636800        unix seconds
//	X-Signature-256: sha256=…      hex HMAC-SHA256 of X-Timestamp + "." + body
//
//	{
//	  "event": "post.publish",
//	  "delivery_id": "5f0c…",
//	  "occurred_at": "2026-05-01T12:00:00Z",
//	  "account": {"name": "@bakery"},
//	  "post": {
//	    "format": "image",         text, link, image, images, video, carousel
//	    "text": "Fresh bread",
//	    "link": "https://…",       left out if there is none, as is all that follows
//	    "title": "…",
//	    "first_comment": "…",
//	    "media": [{
//	      "kind": "image", "type": "image/png", "url": "https://…", "name": "bread.png", "alt": "A loaf",
//	      "bytes": 1234, "width": 800, "height": 600, "duration_seconds": 12.5
//	    }],
//	    "options": {"title": "…"}
//	  }
//	}
//
// The addresses of media are signed and expire after some hours: fetch the files
// when the delivery comes.
//
// # What a receiver does
//
// It verifies the signature over the raw bytes before it parses them, in
// constant time, and refuses a timestamp more than 300 seconds off. While a
// secret is being exchanged the header holds two signatures, parted by a comma;
// one that is right is enough. It remembers X-Delivery-Id and answers a delivery
// that it has had with a 2xx and without a second post: deliveries come at least
// once. Any 2xx means "done"; a JSON body {"url": "https://…"} says where the
// post is to be seen.
//
// 429, and 503 with Retry-After, make Herald wait. 401 means that the signature
// is wrong, 410 that nobody wants deliveries any more. Redirects are not
// followed. After another 5xx, or without an answer, the same delivery comes
// again.
//
// Because the receiver knows repeats, an unknown outcome is simply repeated: see
// Find. What a receiver answers is never shown to anybody. Start with Commit.
package webhook
