/** The value of a field: a type, the fields of an object, or (in a list of one) the items of a list. */
export type Shape = 'string' | 'number' | 'bool' | { readonly [name: string]: Shape } | readonly [Shape];

const file = {
  id: 'string',
  name: 'string',
  fileName: 'string',
  filePath: 'string',
  createdAt: 'string',
  updatedAt: 'string',
} as const;

/**
 * The fields of a filing that the partner service is known to send (docs/partner.md). It may send others, and
 * a filter may ask for them.
 */
const filing = {
  id: 'string',
  filingType: 'string',
  userId: 'string',
  filingStateId: 'string',
  filingState: { id: 'string', name: 'string', stateAbbr: 'string' },
  policyNumber: 'string',
  insuredsName: 'string',
  carriersName: 'string',
  policyEffectiveDate: 'string',
  premium: 'number',
  status: 'string',
  userFiles: [file],
  createdAt: 'string',
  completedAt: 'string',
  rejectionReason: 'string',
} as const;

/** The fields of `data` in the events of filings (docs/webhooks.md#what-arrives). Others do not occur. */
const data = {
  account: 'string',
  filingId: 'string',
  status: 'string',
  previousStatus: 'string',
  rejectionReason: 'string',
  completedAt: 'string',
  sequence: 'number',
  changed: ['string'],
  observed: { notBefore: 'string', notAfter: 'string' },
  inferred: 'bool',
  stalled: { status: 'string', since: 'string', after: 'string' },
  omitted: 'string',
  details: {
    policyNumber: 'string',
    insuredsName: 'string',
    stateAbbr: 'string',
    filingType: 'string',
    premium: 'number',
  },
  filing,
} as const;

/** The event, as its callbacks carry it. */
const event = { type: 'string', timestamp: 'string', data } as const;

/** The names with which an expression begins: `event`, its members, and `filing` for `data.filing`. */
export const eventNames = { event, ...event, filing } as const satisfies Record<string, Shape>;

/** Whether the partner service may send fields in this object that are not known. */
export function isOpen(shape: Shape): boolean {
  return shape === filing || shape === filing.filingState || shape === file;
}

// Other words that people use for a field of a filing.
const otherWords: Readonly<Record<string, string>> = {
  state: 'filing.filingState.stateAbbr',
  stateAbbr: 'filing.filingState.stateAbbr',
  carrier: 'filing.carriersName',
  carrierName: 'filing.carriersName',
  insured: 'filing.insuredsName',
  insuredName: 'filing.insuredsName',
  policy: 'filing.policyNumber',
  effectiveDate: 'filing.policyEffectiveDate',
  files: 'filing.userFiles',
};

/** The fields' paths, each by its last name; of several with one name the first: `filing.premium`. */
export function pathsByName(): ReadonlyMap<string, string> {
  const { filing: _, details, ...own } = data;
  // What is in every event comes first.
  const paths = new Map(Object.keys({ ...own, details }).map((name) => [name, `data.${name}`]));
  addPaths(paths, filing, 'filing');
  addPaths(paths, own, 'data');
  for (const [word, path] of Object.entries(otherWords)) paths.set(word, path);
  return paths;
}

function addPaths(paths: Map<string, string>, fields: Readonly<Record<string, Shape>>, before: string): void {
  for (const [name, shape] of Object.entries(fields)) {
    const path = `${before}.${name}`;
    if (!paths.has(name)) paths.set(name, path);
    if (typeof shape === 'object' && !Array.isArray(shape))
      addPaths(paths, shape as Readonly<Record<string, Shape>>, path);
  }
}
