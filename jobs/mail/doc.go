// Package mail sends the mail that the databases owe: it takes what is due under
// a lease, draws it and hands it to one SMTP server.
//
// A mail is sent at least once. Its Message-ID is the same at every try, so that
// a mailbox can tell a repeat; a repeat happens only if the answer to a sent mail
// got lost. What the server refuses for good is given up, everything else is
// tried again for a day. Without a server nothing is taken and nothing lost.
// Logs name a mail by its ids and never hold an address, a link or a body.
//
// Start with Deliverer in mail.go.
package mail
