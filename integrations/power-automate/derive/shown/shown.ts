/** How a parameter or a field of a body is shown. Its type, its choices and its limits come from the daemon's document. */
export interface ShownField {
  /** Title case; derived from the name where it is left out. */
  readonly title?: string;
  /** Replaces the daemon's description. */
  readonly description?: string;
  readonly visibility?: 'important' | 'advanced' | 'internal';
  readonly default?: string | number | readonly string[];
  /** Choices that are asked for when the form is filled in. */
  readonly choices?: Choices;
}

/** Where choices come from: an operation of the connector, the list in its answer, and what of an item is value and title. */
export interface Choices {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly collection: string;
  readonly value: string;
  readonly title: string;
}

/** An operation of the daemon as makers of flows see it. Parameters and fields that are not named are left out. */
export interface ShownOperation {
  /** Id in the daemon's document. */
  readonly source: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly visibility?: 'important' | 'advanced' | 'internal';
  readonly parameters: Readonly<Record<string, ShownField>>;
  readonly body?: Readonly<Record<string, ShownField>>;
  /** Status of success, and the schema of its answer where that is not the daemon's for this status. */
  readonly success: '200' | '202' | '204';
  readonly answer?: string;
  /** Replaces the daemon's description of the answer. */
  readonly result?: string;
}

/** A trigger: a subscription that the service makes for a flow. */
export interface ShownTrigger {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly hint: string;
  /** A path of the connector alone, which a policy leads to the daemon's; null = the daemon's own. */
  readonly path: string | null;
  readonly body: Readonly<Record<string, ShownField>>;
}

/** The account, as a choice among those that the token opens. */
export const account: ShownField = {
  description: 'The account of the partner service.',
  visibility: 'important',
  choices: {
    // Every token may read the board of rejections, which names the accounts of the token.
    operationId: 'ListRejections',
    parameters: { limit: 1 },
    collection: 'accounts',
    value: 'account',
    title: 'account',
  },
};
