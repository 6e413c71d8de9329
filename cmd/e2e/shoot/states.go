package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/go-rod/rod"

	"herald/cmd/internal/demo"
)

// table is a file of posts, as an agency brings it along: for a day some days from now,
// and with a row that makes no post.
func table(days int) string {
	day := time.Now().AddDate(0, 0, days).Format(time.DateOnly)
	return "Text,Date,Time,Networks\n" +
		"\"Two loaves for one until noon, and a table in the yard for who wants to stay\"," + day + ",09:30,mastodon\n" +
		"The cake table is set," + day + ",15:00,\"facebook, instagram\"\n" +
		"Nobody reads this one," + day + ",10:00,myspace\n"
}

// menu is a document of two pages.
const menu = "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Count 2 /Kids [3 0 R 4 0 R] >>\nendobj\n" +
	"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 400] >>\nendobj\n4 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 400] >>\nendobj\n" +
	"xref\n0 5\n0000000000 65535 f \n0000000009 00000 n \n0000000058 00000 n \n0000000121 00000 n \n0000000192 00000 n \n" +
	"trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n263\n%%EOF\n"

// states lists what only shows once somebody did something: a thread, a document, a
// panel that is open, an import that ended, link tags, many accounts to choose among.
func (c *camera) states(d *demo.Demo, choosing string) ([]screen, error) {
	thread, err := c.made("mastodon", c.thread)
	if err != nil {
		return nil, fmt.Errorf("thread: %w", err)
	}
	emoji := `document.querySelector("[data-opens=emoji]").click()`
	all := []screen{{name: "choosing-by-name", address: choosing, act: `const f = document.getElementById("choice-words"); f.value = "cafe"; f.dispatchEvent(new Event("input", { bubbles: true }))`}, {name: "thread", address: thread}, {name: "emoji", address: thread, act: emoji}, {name: "emoji-search", address: thread, act: emoji + `; setTimeout(() => { const f = document.getElementById("emoji-find"); f.value = "cake"; f.dispatchEvent(new Event("input", { bubbles: true })) }, 500)`}}
	if err := c.linkedin(d); err != nil {
		return nil, fmt.Errorf("connecting LinkedIn: %w", err)
	}
	document, err := c.made("linkedin", c.document)
	if err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	leaflet, err := c.follow(workspace+"/media?kind=document", "a.asset-open")
	if err != nil {
		return nil, err
	}
	all = append(all, screen{name: "document", address: document}, screen{name: "document-asset", address: leaflet}, screen{name: "media-documents", address: workspace + "/media?kind=document"})
	open, done, err := c.imported()
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	tags, err := c.tagged()
	if err != nil {
		return nil, fmt.Errorf("link tags: %w", err)
	}
	return append(all, screen{name: "import", address: open}, screen{name: "import-done", address: done}, screen{name: "link-tags", address: tags}), nil
}

// made writes a post for the first account on a network, and returns where it is.
func (c *camera) made(network string, write func(*rod.Page)) (address string, err error) {
	if err := c.visit(workspace + "/posts/new"); err != nil {
		return "", err
	}
	err = rod.Try(func() {
		p := c.Timeout(time.Minute)
		p.MustElement(".account-choice:has([data-network=" + network + "]) input:not(:disabled)").MustClick()
		p.MustElement("#variant-" + network)
		write(p)
		wait := p.MustWaitNavigation()
		p.MustElement("#composer").MustEval(`() => this.requestSubmit(this.querySelector("[value=save]"))`)
		wait()
		p.MustElement("#versions")
		address = p.MustInfo().URL
	})
	return address, err
}

func (c *camera) thread(p *rod.Page) {
	p.MustElement("#text").MustInput("Our rye takes three days. Here is what happens in them, from flour to crust.")
	p.MustElementR("button", "Write as a thread").MustClick()
	p.MustElement("#piece-mastodon-1").MustInput("Day one: flour and water meet. Nothing to see yet, and that is how it should be. https://kornblume.example/notes/72-hours")
	p.MustElementR("button", "Add a post").MustClick()
	p.MustElement("#piece-mastodon-2").MustInput("Day two: it wakes up 🎉 and doubles, twice.\n\nDay three is for the oven, which has stood here since 1921 and still needs an hour to get going every single morning, whatever the weather is like.")
}

func (c *camera) document(p *rod.Page) {
	p.MustElement("#text").MustInput("What we bake in spring, in one leaflet.")
	path := filepath.Join(os.TempDir(), "What we bake in spring.pdf")
	if err := os.WriteFile(path, []byte(menu), 0o600); err != nil {
		panic(err)
	}
	defer os.Remove(path)
	p.MustElement("#file").MustSetFiles(path)
	p.MustElement(".attachment img")
	p.MustElement("[name$='.document_title']").MustInput("Spring at Kornblume")
}

// linkedin connects a profile for the bakery, as a person does.
func (c *camera) linkedin(d *demo.Demo) error {
	if err := c.declare(d, "linkedin", "memberspring", "Emil Vogt"); err != nil {
		return err
	}
	client, err := c.bakery()
	if err != nil {
		return err
	}
	if err := c.visit(workspace + "/accounts/new?network=linkedin&client=" + client); err != nil {
		return err
	}
	return rod.Try(func() {
		p := c.Timeout(time.Minute)
		p.MustElement(".sign-in .button").MustClick()
		there(p, "a.choice").MustClick()
		there(p, ".shell")
	})
}

// crowd has the demo's simulator know many Pages, so that one looks among them by name.
func (c *camera) crowd(d *demo.Demo) error {
	for i := range 14 {
		if err := c.declare(d, "facebook", fmt.Sprintf("99482000%04d", i), fmt.Sprintf("%s, shop %d", []string{"Kornblume Bakery", "Café by the river"}[i%2], i+1)); err != nil {
			return err
		}
	}
	return nil
}

func (c *camera) declare(d *demo.Demo, network, id, name string) error {
	body, err := json.Marshal(map[string]string{"network": network, "id": id, "name": name})
	if err != nil {
		return err
	}
	resp, err := http.Post(d.Networks+"/_control/accounts", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the simulator answers %s", resp.Status)
	}
	return nil
}

// bakery is the id of the client for whom things are made.
func (c *camera) bakery() (string, error) {
	if err := c.visit(workspace + "/imports"); err != nil {
		return "", err
	}
	answer, err := c.Eval(`() => [...document.querySelectorAll(".import-new [name=client] option")].find((o) => o.text === "Kornblume Bakery").value`)
	if err != nil {
		return "", err
	}
	return answer.Value.Str(), nil
}

// imported brings a table along twice: once its columns are still to be confirmed, and
// once posts were made of it.
func (c *camera) imported() (open, done string, err error) {
	client, err := c.bakery()
	if err != nil {
		return "", "", err
	}
	dir, err := os.MkdirTemp("", "herald-table")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(dir)
	for i, name := range []string{"Editorial plan, spring.csv", "Editorial plan, summer, second draft with the changes of the client.csv"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(table(20+i)), 0o600); err != nil {
			return "", "", err
		}
		if err := c.visit(workspace + "/imports"); err != nil {
			return "", "", err
		}
		err := rod.Try(func() {
			p := c.Timeout(time.Minute)
			p.MustElement(".import-new [name=client]").MustEval(`(v) => { this.value = v }`, client)
			p.MustElement("[name=file]").MustSetFiles(path)
			wait := p.MustWaitNavigation()
			p.MustElementR("button", "Go on").MustClick()
			wait()
			if open, done = p.MustInfo().URL, open; i == 0 {
				p.MustElementR("button", `^\s*Import \d+ posts?`).MustClick()
				c.Timeout(5*time.Minute).MustElementR(".callout", `posts? made`)
			}
		})
		if err != nil {
			return "", "", err
		}
	}
	return open, done, nil
}

// tagged has the links of a client tagged, and returns its page.
func (c *camera) tagged() (string, error) {
	client, err := c.bakery()
	if err != nil {
		return "", err
	}
	page := workspace + "/settings/clients/" + client
	if err := c.visit(page); err != nil {
		return "", err
	}
	err = rod.Try(func() {
		p := c.Timeout(time.Minute)
		p.MustElement("#tag-source").MustInput("{network}")
		p.MustElement("#tag-medium").MustInput("social")
		p.MustElement("#tag-campaign").MustInput("{campaign}")
		p.MustElement("#tag-hosts").MustInput("kornblume.example, shop.kornblume.example")
		wait := p.MustWaitNavigation()
		p.MustElementR("button", "Save link tags").MustClick()
		wait()
	})
	return page, err
}
