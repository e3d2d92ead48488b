// The page of the queues takes the text of its base for the path that it is served under, which only the
// browser knows: a proxy may have put one in front.
const base = /** @type {HTMLBaseElement} */ (document.querySelector('base'));
base.setAttribute('href', new URL(base.href).pathname);
