import { useEffect, useState } from './vendor/hooks.js';

/**
 * A link within the page; each segment may hold any character.
 * @param {...string} segments
 */
export function href(...segments) {
  return `#/${segments.map((segment) => encodeURIComponent(segment.toWellFormed())).join('/')}`;
}

/**
 * The segments of a hash such as `#/accounts/default`; pure. Empty ones are left out.
 * @param {string} hash
 * @returns {string[]}
 */
export function parseHash(hash) {
  return hash
    .replace(/^#\/?/, '')
    .split('/')
    .filter((segment) => segment !== '')
    .map(decode);
}

/** The hash of the page; renders again when it changes. */
export function useHash() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return hash;
}

/** @type {(segment: string) => string} */
function decode(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
