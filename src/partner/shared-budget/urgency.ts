/** The kind of a request, as far as it matters for its turn. */
export type Urgency =
  | 'person' // somebody waits for it: a search, the check of a key
  | 'change' // shows changes of filings: deltas, the polls of small accounts, single reads
  | 'sweep'; // a page of a long list

/** What a turn is taken for; a person's request uses the turns of changes. */
export type TurnKind = Exclude<Urgency, 'person'>;

/** The turns that a request waits for; pure. */
export function turnKindOf(urgency: Urgency): TurnKind {
  return urgency === 'sweep' ? 'sweep' : 'change';
}
