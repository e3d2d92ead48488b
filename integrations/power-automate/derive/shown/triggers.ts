import type { ShownField, ShownTrigger } from './shown.ts';

const description: ShownField = {
  title: 'Name of the Flow',
  description: "What the subscription is called in the daemon's lists; enter the name of the flow.",
  default: 'Power Automate',
};

const states: ShownField = {
  description: 'Abbreviations of the states of the filings, such as TX; none = all.',
};

const filter: ShownField = {
  description:
    'An expression that is true for the events that the flow wants, such as filing.premium > 10000.',
  visibility: 'advanced',
};

const headers: ShownField = {
  title: 'Shared Secret',
  description:
    'A long random text of your own. Every notification carries it, and a condition of the trigger can ask for it.',
  visibility: 'advanced',
};

/** The triggers. Each makes a subscription of the format `standard`. */
export const triggers: readonly ShownTrigger[] = [
  {
    operationId: 'WhenAFilingChanges',
    summary: 'When a filing changes',
    description:
      'This operation triggers when a filing is created, changes its status, or is edited, removed or stalled.',
    hint: 'To see it work now, change the status of a filing in the sandbox.',
    path: null,
    body: {
      description,
      eventTypes: {
        description: 'Types of the events; none = all changes of filings.',
        visibility: 'important',
      },
      statuses: {
        description: 'Statuses that filings have after the change; none = all.',
        visibility: 'important',
      },
      states: { ...states, visibility: 'important' },
      filter,
      payload: {
        description: 'full = with all fields of the filing, thin = without them.',
        visibility: 'advanced',
      },
      headers,
    },
  },
  {
    operationId: 'WhenAFilingIsRejected',
    summary: 'When a filing is rejected',
    description:
      'This operation triggers when a filing is rejected, or when the reason of its rejection changes.',
    hint: 'To see it work now, reject a filing in the sandbox.',
    path: '/triggers/rejections/{account}',
    body: {
      description,
      states: { ...states, visibility: 'important' },
      // Not filing.removed, which a rejected filing may cause, too.
      eventTypes: {
        description: 'Events after which a filing may be rejected.',
        visibility: 'internal',
        default: ['filing.rejected', 'filing.created', 'filing.restored'],
      },
      statuses: {
        description: 'The status that filings have after the change.',
        visibility: 'internal',
        default: ['REJECTED'],
      },
      filter,
      headers,
    },
  },
];

/** Name of the header that carries the shared secret of a flow. */
export const secretHeader = 'x-flow-secret';
