/** How short names become full ones (resolv.conf(5)). */
export interface SearchRules {
  /** Domains that are appended, in this order. */
  readonly domains: readonly string[];
  /** Minimum number of dots with which a name is asked as it is before the domains are appended. */
  readonly ndots: number;
}

// Maximum number of search domains, as in Kubernetes.
const domainsMax = 32;
// Maximum of `ndots`, as in the C library.
const ndotsMax = 15;

/**
 * Reads `search`, `domain` and `options ndots:` of a resolv.conf; pure. The last of `search` and `domain`
 * counts. Without either the domain is the one of this machine's own name.
 */
export function parseSearchRules(text: string, ownName: string): SearchRules {
  let domains = ownName.includes('.') ? [ownName.slice(ownName.indexOf('.') + 1)] : [];
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [keyword = '', ...words] = line.split(/\s+/).filter((word) => word !== '');
    if (keyword === 'search') domains = words;
    if (keyword === 'domain') domains = words.slice(0, 1);
    if (keyword === 'options') ndots = ndotsOf(words) ?? ndots;
  }
  const bare = domains.map((domain) => domain.toLowerCase().replace(/\.$/, ''));
  return { domains: bare.slice(0, domainsMax), ndots };
}

function ndotsOf(words: readonly string[]): number | undefined {
  const [, digits] =
    words.map((word) => /^ndots:(\d{1,3})$/.exec(word)).find((found) => found !== null) ?? [];
  return digits === undefined ? undefined : Math.min(Number(digits), ndotsMax);
}

/** The full names to ask for, in their order; pure. A name that ends with a dot is full already. */
export function fullNames(name: string, { domains, ndots }: SearchRules): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const dots = name.split('.').length - 1;
  const longer = domains.map((domain) => (domain === '' ? name : `${name}.${domain}`));
  return [...new Set(dots >= ndots ? [name, ...longer] : [...longer, name])];
}
