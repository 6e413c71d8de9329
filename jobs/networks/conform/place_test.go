package conform

import (
	"cmp"
	"strings"
	"testing"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/blotato"
	"herald/jobs/networks/bluesky"
	"herald/jobs/networks/bundle"
	"herald/jobs/networks/discord"
	"herald/jobs/networks/facebook"
	"herald/jobs/networks/ghl"
	"herald/jobs/networks/googlebusiness"
	"herald/jobs/networks/instagram"
	"herald/jobs/networks/linkedin"
	"herald/jobs/networks/mailchimp"
	"herald/jobs/networks/mastodon"
	"herald/jobs/networks/medium"
	"herald/jobs/networks/pinterest"
	"herald/jobs/networks/slack"
	"herald/jobs/networks/telegram"
	"herald/jobs/networks/threads"
	"herald/jobs/networks/tiktok"
	"herald/jobs/networks/webhook"
	"herald/jobs/networks/wordpress"
	"herald/jobs/networks/x"
	"herald/jobs/networks/youtube"
)

// place is a network as the suite drives it: its catalogue entry, its adapter,
// and the few things that only a network knows about itself.
type place struct {
	*network.Network
	Name     network.Name // of its simulator, and of a publisher that it is reached by; the network's own if empty
	make     func(networks.Env) networks.Adapter
	prepared network.Format    // a format whose Prepare calls the network; empty if none does
	slow     network.Format    // a format with an object that is processed for a while; empty if none has
	renewed  map[string]string // settings of an account whose tokens can be renewed; nil if there are none
	rotates  bool              // a refresh token is spent by its use, so an answer that is lost ends the connection
	foreign  string            // a commit's answer that names another account; empty if answers name none
	nobody   string            // why they name none
	refusal  string            // the network's own error body, with %q where its words stand
	tells    bool              // what became of our upload is told by the network, whatever else its lists hold
	proves   bool              // a look-up asks for the upload and reads no list
	later    bool              // a file is looked at after it was taken: what follows the commit says that it is turned down

	accepts     network.Format   // a format that a commit only hands over, and the network then works on; empty if none
	unsigned    network.Format   // a format whose commit shows no token: its address is the right to make it
	sent        network.Format   // a format whose files are sent as bytes though the network pulls others
	silent      network.Format   // a format whose files are sent without a word on their size before
	stricter    []network.Format // formats of which the network takes a longer text than the catalogue, whose bound holds for all
	shows       bool             // of unproved formats: a post that is listed is found all the same
	threadWhole bool             // a thread goes out in the call that makes the post
	together    bool             // the first comment goes with the post, in one call
	unproved    []network.Format // formats that nothing tells of if the commit's answer is lost, so that a person looks
}

// graphRefusal is Graph's error body; the words for the user say the same.
const graphRefusal = `{"error":{"message":%[1]q,"type":"OAuthException","code":100,"error_user_title":"No","error_user_msg":%[1]q,"fbtrace_id":"A1"}}`

// tiktokPhotos are the formats that TikTok pulls.
var tiktokPhotos = []network.Format{network.FormatImage, network.FormatImages}

// telegramAll are all formats: a bot reads nothing of what it posted.
var telegramAll = []network.Format{network.FormatText, network.FormatImage, network.FormatVideo, network.FormatCarousel}

// mediumAll are all formats: Medium lists nothing, and the bounds on words are ours.
var mediumAll = []network.Format{network.FormatText, network.FormatLink, network.FormatImage}

const (
	accountID = "1001"
	token     = "EAAG7conform0ZAsecret9token4Xq8"
	renewal   = "ERG5conform0refresh9token2Wm7"
	appID     = "900"
)

func places() []place {
	list := named()
	for i, p := range list {
		list[i].Name = cmp.Or(p.Name, p.Network.Name)
	}
	return list
}

// column is what the matrix calls the place.
func (p place) column() network.Name {
	if p.Name == p.Network.Name {
		return p.Name
	}
	return p.Name + "/" + p.Network.Name
}

// via is a network as a publisher reaches it.
func via(name network.Name, p network.Publisher) *network.Network {
	n, _ := entry(name).Via(p)
	own := *n
	own.Label += " by " + network.PublisherLabel(p)
	return &own
}

func byBundle(name network.Name, slow network.Format) place {
	n := via(name, network.Bundle)
	return place{
		Network: n, Name: network.Name(network.Bundle), accepts: n.Formats[0].Format, tells: true, proves: true, together: true, prepared: slow,
		make:    func(e networks.Env) networks.Adapter { return bundle.New(e) },
		foreign: `{"id":"p77","teamId":"2002","status":"SCHEDULED"}`,
		refusal: `{"statusCode":400,"message":%q}`,
	}
}

func byBlotato(name network.Name) place {
	n := via(name, network.Blotato)
	var all []network.Format
	for _, f := range n.Formats {
		all = append(all, f.Format)
	}
	return place{
		Network: n, Name: network.Name(network.Blotato), threadWhole: true, accepts: n.Formats[0].Format, tells: true, unproved: all, shows: true, prepared: network.FormatImages,
		make:    func(e networks.Env) networks.Adapter { return blotato.New(e) },
		nobody:  "its answer is the id of the submission alone, which names no account",
		refusal: `{"statusCode":422,"message":%q}`,
	}
}

func byGHL(name network.Name) place {
	n := via(name, network.GHL)
	var all []network.Format
	for _, f := range n.Formats {
		all = append(all, f.Format)
	}
	return place{
		Network: n, Name: network.Name(network.GHL), accepts: n.Formats[0].Format, tells: true, unproved: all, shows: true, together: true, stricter: all,
		make:    func(e networks.Env) networks.Adapter { return ghl.New(e) },
		foreign: `{"success":true,"statusCode":201,"results":{"post":{"_id":"p77","status":"in_progress","accountIds":["2002"]}}}`,
		refusal: `{"statusCode":400,"message":%q}`,
	}
}

func named() []place {
	return []place{
		byGHL(network.Facebook),
		byBlotato(network.X),
		byBundle(network.Facebook, network.FormatImages),
		byBundle(network.Bluesky, network.FormatImage),
		{
			Network: entry(network.Bluesky), prepared: network.FormatImage, slow: network.FormatVideo,
			make:    func(e networks.Env) networks.Adapter { return bluesky.New(e) },
			renewed: map[string]string{}, rotates: true,
			foreign: `{"uri":"at://2002/app.bsky.feed.post/3lccccccccc22","cid":"bafyreia"}`,
			refusal: `{"error":"InvalidRequest","message":%q}`,
		},
		{
			Network: entry(network.Discord), tells: true,
			make:    func(e networks.Env) networks.Adapter { return discord.New(e) },
			foreign: `{"id":"77","channel_id":"2002"}`,
			refusal: `{"code":50035,"message":%q}`,
		},
		{
			Network: entry(network.Facebook), prepared: network.FormatImages, slow: network.FormatReel,
			make:    func(e networks.Env) networks.Adapter { return facebook.New(e) },
			foreign: `{"id":"2002_77","post_id":"2002_77"}`,
			refusal: graphRefusal,
		},
		{
			Network: entry(network.GHLBlog), prepared: network.FormatImage, tells: true, stricter: []network.Format{network.FormatImage},
			make:    func(e networks.Env) networks.Adapter { return ghl.NewBlog(e) },
			foreign: `{"updatedBlogPost":{"_id":"2002","status":"PUBLISHED"}}`,
			refusal: `{"statusCode":400,"message":%q}`,
		},
		{
			Network: entry(network.GoogleBusiness), accepts: network.FormatText, renewed: map[string]string{},
			make:    func(e networks.Env) networks.Adapter { return googlebusiness.New(e) },
			foreign: `{"name":"accounts/1/locations/2002/localPosts/77","state":"LIVE"}`,
			refusal: `{"error":{"code":400,"message":%q,"status":"INVALID_ARGUMENT"}}`,
		},
		{
			Network: entry(network.Instagram), tells: true, prepared: network.FormatImage, slow: network.FormatReel,
			make:    func(e networks.Env) networks.Adapter { return instagram.New(e) },
			renewed: map[string]string{"login": "instagram"},
			nobody:  "its answer is the id of the post alone, which names no account",
			refusal: graphRefusal,
		},
		{
			Network: entry(network.LinkedIn), prepared: network.FormatImage, slow: network.FormatVideo, renewed: map[string]string{},
			make:    func(e networks.Env) networks.Adapter { return linkedin.New(e) },
			nobody:  "its answer is the id of the post alone, which names no account",
			refusal: `{"status":400,"code":"INVALID_VALUE_FOR_FIELD","message":%q}`,
		},
		{
			Network: entry(network.Mailchimp), prepared: network.FormatText, tells: true, proves: true, stricter: []network.Format{network.FormatText, network.FormatImage},
			make:    func(e networks.Env) networks.Adapter { return mailchimp.New(e) },
			nobody:  "it answers without a body",
			refusal: `{"type":"about:blank","title":"Invalid Resource","status":400,"detail":%q}`,
		},
		{
			Network: entry(network.Mastodon), prepared: network.FormatImage, slow: network.FormatVideo,
			make:    func(e networks.Env) networks.Adapter { return mastodon.New(e) },
			nobody:  "its answer cannot be about another account, because the token alone says whose a post is",
			refusal: `{"error":%q}`,
		},
		{
			Network: entry(network.Medium), prepared: network.FormatImage, unproved: mediumAll, stricter: mediumAll,
			make:    func(e networks.Env) networks.Adapter { return medium.New(e) },
			foreign: `{"data":{"id":"77","authorId":"2002"}}`,
			refusal: `{"errors":[{"message":%q,"code":2002}]}`,
		},
		{
			Network: entry(network.Pinterest), prepared: network.FormatVideo, slow: network.FormatVideo, renewed: map[string]string{}, rotates: true, sent: network.FormatVideo, silent: network.FormatVideo,
			make:    func(e networks.Env) networks.Adapter { return pinterest.New(e) },
			foreign: `{"id":"77","board_id":"2002"}`,
			refusal: `{"code":1,"message":%q}`,
		},
		{
			Network: entry(network.Slack), prepared: network.FormatImage, tells: true,
			make:    func(e networks.Env) networks.Adapter { return slack.New(e) },
			foreign: `{"ok":true,"channel":"2002","ts":"1777896000.000077"}`,
			refusal: `{"ok":false,"error":"invalid_arguments","response_metadata":{"messages":[%q]}}`,
		},
		{
			Network: entry(network.Telegram), unproved: telegramAll,
			make:    func(e networks.Env) networks.Adapter { return telegram.New(e) },
			foreign: `{"ok":true,"result":{"message_id":77,"date":1,"chat":{"id":2002,"type":"channel"}}}`,
			refusal: `{"ok":false,"error_code":400,"description":%q}`,
		},
		{
			Network: entry(network.Threads), tells: true, prepared: network.FormatImage, slow: network.FormatVideo,
			make:    func(e networks.Env) networks.Adapter { return threads.New(e) },
			renewed: map[string]string{},
			nobody:  "its answer is the id of the post alone, which names no account",
			refusal: graphRefusal,
		},
		{
			Network: entry(network.TikTok), prepared: network.FormatVideo, accepts: network.FormatVideo, tells: true, proves: true,
			make:    func(e networks.Env) networks.Adapter { return tiktok.New(e) },
			renewed: map[string]string{}, rotates: true,
			unsigned: network.FormatVideo, sent: network.FormatVideo, unproved: tiktokPhotos, stricter: tiktokPhotos,
			nobody:  "its answer is the id of the publish alone, which names no account",
			refusal: `{"data":{},"error":{"code":"invalid_params","message":%q,"log_id":"L1"}}`,
		},
		{
			Network: entry(network.Webhook),
			make:    func(e networks.Env) networks.Adapter { return webhook.New(e) },
			nobody:  "whatever a receiver answers with a 2xx means done",
			refusal: `{"error":%q}`,
		},
		{
			Network: entry(network.WordPress), prepared: network.FormatText, tells: true, stricter: []network.Format{network.FormatText, network.FormatImage},
			make:    func(e networks.Env) networks.Adapter { return wordpress.New(e) },
			foreign: `{"id":2002,"status":"publish","link":"https://cafe.example/bread"}`,
			refusal: `{"code":"rest_invalid_param","message":%q,"data":{"status":400}}`,
		},
		{
			Network: entry(network.X), prepared: network.FormatImage, slow: network.FormatVideo,
			make:    func(e networks.Env) networks.Adapter { return x.New(e) },
			renewed: map[string]string{}, rotates: true,
			nobody:  "its answer is the id of the post alone, which names no account",
			refusal: `{"title":"Forbidden","detail":%q,"type":"about:blank","status":403}`,
		},
		{
			Network: entry(network.YouTube), prepared: network.FormatVideo, renewed: map[string]string{}, tells: true, proves: true, later: true,
			make:    func(e networks.Env) networks.Adapter { return youtube.New(e) },
			foreign: `{"id":"abcdefghijk","snippet":{"channelId":"2002"}}`,
			refusal: `{"error":{"code":400,"message":%[1]q,"errors":[{"reason":"badRequest","message":%[1]q}],"status":"INVALID_ARGUMENT"}}`,
		},
	}
}

func entry(name network.Name) *network.Network {
	n, _ := network.Get(name)
	return n
}

// simple is the plainest format that the network has.
func (p place) simple() network.Format { return p.Formats[0].Format }

func (p place) account() networks.Account {
	a := networks.Account{
		ID: 7, Network: p.Network.Name, Handle: "@bakery", RemoteID: accountID, Token: secret.NewToken(token), Refresh: secret.NewToken(renewal),
	}
	switch p.Name {
	case network.Webhook:
		a.RemoteID, a.Address = "", "https://hooks.bakery.example/"+accountID
	case network.GoogleBusiness:
		a.RemoteID = "accounts/1/locations/" + accountID
	case network.LinkedIn:
		a.RemoteID = "urn:li:organization:" + accountID
	case network.GHLBlog:
		a.Settings = map[string]string{"location_id": "loc"}
	case network.Name(network.GHL):
		a.Settings = map[string]string{"location_id": "loc", "user_id": "u1"}
	case network.Mastodon, network.WordPress:
		a.Address = "https://bakery.example"
	}
	return a
}

// phrase is the text of the suite's posts; no evidence may hold it.
const phrase = "Fresh bread from seven, said the baker"

// post is a post of a format, as full as the catalogue lets it be.
func (p place) post(w *world, f network.Format) networks.Post {
	rule, _ := p.Rule(f)
	post := networks.Post{Format: f, Options: map[string]string{}}
	if rule.Text {
		post.Text = phrase
	}
	if f == network.FormatLink {
		post.Link = "https://bakery.example/bread?day=1"
	}
	if (f == network.FormatReel || f == network.FormatStory) && p.offers(string(f)) {
		post.Options[network.OptFormat] = string(f)
	}
	for i := range rule.Min {
		post.Media = append(post.Media, p.medium(w, rule, i))
	}
	for _, o := range p.Options {
		if o.Required && o.Default == "" && len(o.When) == 0 {
			post.Options[o.Key] = p.required(o)
		}
	}
	return post
}

// required is an answer to what has to be answered.
func (p place) required(o network.Option) string {
	if o.Kind == network.Choose {
		return o.Choices[0].Value
	}
	if o.Pattern != nil {
		return accountID
	}
	return "Bread"
}

// offers says whether the network lets a writer choose to show a post as v.
func (p place) offers(v string) bool {
	o, _ := p.Option(network.OptFormat)
	for _, c := range o.Choices {
		if c.Value == v {
			return true
		}
	}
	return false
}

// medium is the i-th file of a post: pictures where there may be pictures, and a
// video among them where both go.
func (p place) medium(w *world, rule network.FormatRule, i int) networks.Media {
	mime := "image/jpeg"
	if len(rule.Document.Types) > 0 {
		mime = "application/pdf"
	} else if len(rule.Image.Types) == 0 || i == 1 && len(rule.Video.Types) > 0 {
		mime = "video/mp4"
	}
	return p.describe(w.file(sample(mime)), rule)
}

// describe adds the alt text, where one is taken.
func (p place) describe(m networks.Media, rule network.FormatRule) networks.Media {
	if rule.Alt && (m.Kind == network.Image && p.Alt.Image || m.Kind == network.Video && p.Alt.Video) {
		m.Alt = "A loaf on a table, " + m.Name
	}
	if !p.Pulls {
		m.URL = ""
	}
	return m
}

// draft is what the catalogue checks.
func draft(p networks.Post) network.Draft {
	d := network.Draft{Text: p.Text, Link: p.Link, FirstComment: p.FirstComment, Options: p.Options}
	for _, m := range p.Media {
		d.Media = append(d.Media, m.Media)
	}
	return d
}

// blocked are the codes of what the catalogue refuses in a post.
func (p place) blocked(post networks.Post) string {
	var codes []string
	for _, problem := range p.Check(draft(post)) {
		if !problem.Warn {
			codes = append(codes, problem.Code)
		}
	}
	return strings.Join(codes, " ")
}

// commented is a format that takes a first comment.
func (p place) commented() network.Format {
	for _, f := range p.Formats {
		if f.Comment && p.Comment.Max > 0 {
			return f.Format
		}
	}
	return ""
}

// knowsItsOwn says whether a post is known by a key of ours for good, so that
// neither a list nor a stranger has a say.
func (p place) knowsItsOwn() bool { return p.Key && p.KeyHolds == 0 && p.LookUp == network.Proof }

// formats runs f on every format of the network.
func (p place) formats(t *testing.T, f func(t *testing.T, format network.Format)) {
	for _, rule := range p.Formats {
		t.Run(string(rule.Format), func(t *testing.T) { f(t, rule.Format) })
	}
}

func (p place) label() string { return cmp.Or(p.Label, string(p.Name)) }
