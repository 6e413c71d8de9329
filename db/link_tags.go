package db

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// LinkTags are the campaign parameters that the links in posts of a client get.
type LinkTags struct {
	ClientID   model.ClientID
	Source     string
	Medium     string
	Campaign   string
	Term       string
	Content    string
	Hosts      []string // whose links are tagged, with all below them
	Everywhere bool     // every link instead
	Revision   int      // 0: there is no rule
}

// Active says whether the rule adds anything.
func (t LinkTags) Active() bool {
	return (t.Everywhere || len(t.Hosts) > 0) && t.Source+t.Medium+t.Campaign+t.Term+t.Content != ""
}

// filled is the rule for what one account gets.
func (t LinkTags) filled(a planAccount, campaign string) network.LinkTags {
	tags := network.LinkTags{Source: t.Source, Medium: t.Medium, Campaign: t.Campaign, Term: t.Term, Content: t.Content, Hosts: t.Hosts, Everywhere: t.Everywhere}
	return tags.Fill(map[string]string{"network": string(a.Network), "client": a.Client, "campaign": campaign})
}

const maxTag, maxTagHosts = 200, 100

// check refuses what is too long, and words in brackets that stand for nothing.
func (t LinkTags) check() error {
	for _, one := range [][2]string{{"source", t.Source}, {"medium", t.Medium}, {"campaign", t.Campaign}, {"term", t.Term}, {"content", t.Content}} {
		if utf8.RuneCountInString(one[1]) > maxTag {
			return model.RefuseField(one[0], fmt.Sprintf("Keep it under %d characters.", maxTag))
		}
		if word := network.UnknownTag(one[1]); word != "" {
			return model.RefuseField(one[0], word+" stands for nothing. Use {network}, {client} or {campaign}.")
		}
	}
	if len(t.Hosts) > maxTagHosts {
		return model.RefuseField("hosts", fmt.Sprintf("Keep to %d hosts.", maxTagHosts))
	}
	return nil
}

const sqlLinkTags = `
	SELECT client_id, source, medium, campaign, term, content, hosts, everywhere, revision FROM tenant.link_tags WHERE tenant_id = $1 AND client_id = ANY ($2)`

func (sc *Scope) linkTags(ctx context.Context, tx pgx.Tx, clients ...model.ClientID) ([]LinkTags, error) {
	rows, err := tx.Query(ctx, sqlLinkTags, sc.Actor.Tenant, clients)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[LinkTags])
}

// LinkTags reads a client's rule; one without a revision if it has none.
func (sc *Scope) LinkTags(ctx context.Context, client model.ClientID) (t LinkTags, err error) {
	defer wrap(&err, "read link tags of client %d", client)
	if err := sc.need(model.ClientsManage, client, "client"); err != nil {
		return t, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if err := sc.clientThere(ctx, tx, client); err != nil {
			return err
		}
		list, err := sc.linkTags(ctx, tx, client)
		if len(list) > 0 {
			t = list[0]
		}
		return err
	})
	return t, err
}

const sqlLinkTagsSet = `
	INSERT INTO tenant.link_tags AS t (tenant_id, client_id, source, medium, campaign, term, content, hosts, everywhere)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
	ON CONFLICT (tenant_id, client_id) DO UPDATE SET source = $3, medium = $4, campaign = $5, term = $6, content = $7, hosts = $8, everywhere = $9, revision = t.revision + 1
	 WHERE t.revision = $10`

// SetLinkTags chooses how links are tagged in what is written for a client from now
// on. It refuses with Conflict if the rule changed after the caller read revision
// t.Revision.
func (sc *Scope) SetLinkTags(ctx context.Context, t LinkTags) (err error) {
	defer wrap(&err, "set link tags of client %d", t.ClientID)
	if err := sc.need(model.ClientsManage, t.ClientID, "client"); err != nil {
		return err
	}
	if err := t.check(); err != nil {
		return err
	}
	return sc.write(ctx, func(tx pgx.Tx) error {
		if err := sc.clientThere(ctx, tx, t.ClientID); err != nil {
			return err
		}
		done, err := tx.Exec(ctx, sqlLinkTagsSet, sc.Actor.Tenant, t.ClientID, t.Source, t.Medium, t.Campaign, t.Term, t.Content, some(t.Hosts), t.Everywhere, t.Revision)
		if err != nil {
			return err
		}
		if done.RowsAffected() == 0 {
			return &model.Refusal{Kind: model.Conflict, Field: "hosts", Say: "Somebody changed this rule while you had it open. Nothing of yours was saved; load the page again to see it."}
		}
		return sc.audit(ctx, tx, note{verb: "link_tags_set", subject: "client", id: int64(t.ClientID), client: t.ClientID})
	})
}

// tagger knows how links are tagged in what each account gets.
type tagger map[model.AccountID]network.LinkTags

// campaignOf is a post's campaign. Only the client that it belongs to is tagged with
// it, or every one if it is the workspace's.
type campaignOf struct {
	label  model.LabelID
	client *model.ClientID
	name   string
}

func (c campaignOf) of(client model.ClientID) string {
	if c.client != nil && *c.client != client {
		return ""
	}
	return c.name
}

const sqlCampaignNames = `SELECT id, client_id, name FROM tenant.labels WHERE tenant_id = $1 AND id = ANY ($2) AND kind = 'campaign' ORDER BY id`

// addTags reads the rules of the ground's clients, and what campaigns forms are of, as
// far as somebody asks.
func (sc *Scope) addTags(ctx context.Context, tx pgx.Tx, g *ground, forms []PostForm) (err error) {
	var clients []model.ClientID
	var labels []model.LabelID
	for _, f := range forms {
		labels = append(labels, f.Labels...)
		for _, a := range g.accountsOf(f) {
			if !f.Content.Plain {
				clients = append(clients, a.ClientID)
			}
		}
	}
	if len(clients) == 0 {
		return nil
	}
	if g.rules, err = sc.linkTags(ctx, tx, clients...); err != nil || len(g.rules) == 0 || len(labels) == 0 {
		return err
	}
	rows, err := tx.Query(ctx, sqlCampaignNames, sc.Actor.Tenant, labels)
	if err != nil {
		return err
	}
	var c campaignOf
	_, err = pgx.ForEachRow(rows, []any{&c.label, &c.client, &c.name}, func() error {
		g.campaigns, c.client = append(g.campaigns, c), nil
		return nil
	})
	return err
}

// tagger is how links are tagged in what a form's accounts get.
func (g ground) tagger(accounts []planAccount, form PostForm) tagger {
	if form.Content.Plain || len(g.rules) == 0 {
		return nil
	}
	var campaign campaignOf
	if i := slices.IndexFunc(g.campaigns, func(c campaignOf) bool { return slices.Contains(form.Labels, c.label) }); i >= 0 {
		campaign = g.campaigns[i]
	}
	t := tagger{}
	for _, a := range accounts {
		for _, rule := range g.rules {
			if rule.ClientID == a.ClientID && rule.Active() {
				t[a.ID] = rule.filled(a, campaign.of(a.ClientID))
			}
		}
	}
	return t
}

// tagged is the content with what accounts get whose links are tagged; accounts that
// get the same stand together.
func (t tagger) tagged(c model.Content, accounts []planAccount) model.Content {
	c.Tagged = nil
	ordered := slices.SortedFunc(slices.Values(accounts), func(a, b planAccount) int { return int(a.ID - b.ID) })
	for _, a := range ordered {
		part := c.Written(string(a.Network), a.ID)
		tags, ruled := t[a.ID]
		one := model.Tagged{Text: part.Text, Link: part.Link, FirstComment: part.FirstComment}
		if ruled {
			one = model.Tagged{Text: tags.Text(part.Text), Link: tags.Link(part.Link), FirstComment: tags.Text(part.FirstComment)}
		}
		if one.Text == part.Text && one.Link == part.Link && one.FirstComment == part.FirstComment {
			continue
		}
		i := slices.IndexFunc(c.Tagged, func(have model.Tagged) bool { return have.Same(one) })
		if i < 0 {
			c.Tagged, i = append(c.Tagged, one), len(c.Tagged)
		}
		c.Tagged[i].Accounts = append(c.Tagged[i].Accounts, a.ID)
	}
	return c
}

// keepsTags says whether links stay as they are: somebody was asked about exactly
// these words, so that a rule that changed since is none of theirs.
func (form PostForm) keepsTags(old PostPage, c model.Content) bool {
	asked := form.written || old.Post.Review == "in_review" || old.Post.Review == "approved"
	return asked && old.Version.ID != 0 && c.Untagged().Hash() == old.Version.Content.Untagged().Hash()
}

// taggings are the links that an account gets otherwise than they were written.
func taggings(written, sent model.Part) []network.Tagging {
	done := append(network.Taggings(written.Text, sent.Text), network.Taggings(written.FirstComment, sent.FirstComment)...)
	if written.Link != sent.Link {
		done = append(done, network.Tagging{From: written.Link, To: sent.Link})
	}
	return done
}
