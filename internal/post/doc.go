// Package post sends one POST to an address that somebody else chose, and says what the answer means.
//
// Such an address may be meant to reach what only this machine can reach. So the addresses that a name resolves to are judged when a connection is made,
// each one, after DNS has answered: a name that resolves to something else a moment later is judged by that. Redirects are not followed, proxies of the
// environment are not used, and an answer is bounded in size and in time.
package post
