import { account, type Choices, type ShownField, type ShownOperation } from './shown.ts';

const paging: Readonly<Record<string, ShownField>> = {
  limit: { visibility: 'advanced' },
  cursor: {
    visibility: 'advanced',
    description: 'Next Cursor of the page before; empty for the first page.',
  },
};

const filingId: ShownField = { description: 'ID of the filing at the partner service.' };

/** The actions, in the order in which they are offered. */
export const actions: readonly ShownOperation[] = [
  {
    source: 'listFilings',
    operationId: 'ListFilings',
    summary: 'List or search filings',
    description: 'This operation lists the filings of an account as last seen, or those that a search finds.',
    visibility: 'important',
    parameters: {
      account,
      q: {
        title: 'Search Text',
        description: "Words that policy number, insured's name or ID have as a part; empty = all filings.",
      },
      status: {
        description: 'Status of the filings, or several with commas between, such as REJECTED,UNPAID.',
      },
      state: { description: 'Abbreviation of the state of the filings, such as TX.' },
      order: { visibility: 'advanced' },
      ...paging,
    },
    success: '200',
    result: 'A page of filings.',
  },
  {
    source: 'getFiling',
    operationId: 'GetFiling',
    summary: 'Get a filing',
    description: 'This operation gets a filing as last seen, with its latest events.',
    visibility: 'important',
    parameters: { account, filingId },
    success: '200',
  },
  {
    source: 'listRejections',
    operationId: 'ListRejections',
    summary: 'List rejected filings',
    description:
      'This operation lists the filings that are rejected now, of all accounts that the token opens.',
    visibility: 'important',
    parameters: {
      account: {
        description: 'Only rejections of this account; empty = of all that the token opens.',
        choices: { ...account.choices, parameters: { limit: 1 } } as Choices,
      },
      state: { description: 'Abbreviation of the state of the filings, such as TX.' },
      seen: {
        description: 'true = only those that somebody has seen, false = only the others.',
      },
      reason: { visibility: 'advanced' },
      order: { visibility: 'advanced' },
      ...paging,
    },
    success: '200',
    result: 'A page of rejections, with counts by reason and state.',
  },
  {
    source: 'markFilingSeen',
    operationId: 'MarkFilingSeen',
    summary: 'Mark a rejected filing as seen',
    description:
      'This operation notes who has seen the present rejection of a filing, and what is done about it.',
    parameters: { account, filingId },
    body: { by: {}, note: { title: 'Note' } },
    success: '200',
  },
  {
    source: 'listEvents',
    operationId: 'ListEvents',
    summary: 'List events',
    description: 'This operation lists the recorded changes of an account, the same that triggers deliver.',
    parameters: {
      account,
      types: {
        title: 'Event Types',
        description: 'Types with commas between, such as filing.completed,filing.rejected; empty = all.',
      },
      filingId: { description: 'Only events of this filing.' },
      after: {},
      before: {},
      order: {},
      ...paging,
    },
    success: '200',
  },
  {
    source: 'replayEvents',
    operationId: 'ReplayEvents',
    summary: 'Deliver events again',
    description: 'This operation delivers events again to the flow of a subscription, under their own IDs.',
    parameters: {
      account,
      id: {
        title: 'Subscription',
        description: 'The subscription of the flow that gets the events again.',
        choices: {
          operationId: 'ListSubscriptions',
          parameters: { account: { parameter: 'account' } },
          collection: 'items',
          value: 'id',
          title: 'description',
        },
      },
    },
    body: {
      after: {},
      before: {},
      eventTypes: { description: 'Types of the events; empty = all that the subscription asks for.' },
      filingId: { description: 'Only events of this filing.' },
      deadLettersOnly: { visibility: 'advanced' },
      eventIds: { visibility: 'advanced', title: 'Event IDs' },
    },
    success: '202',
    // The service follows the Location of a 202 and takes the answer that it finds there.
    answer: 'Replay',
  },
  {
    source: 'listSubscriptions',
    operationId: 'ListSubscriptions',
    summary: 'List subscriptions',
    description:
      'This operation lists the subscriptions that the token may see, as choices for other operations.',
    visibility: 'internal',
    parameters: { account: {} },
    success: '200',
    answer: 'SubscriptionChoices',
  },
  {
    source: 'getSession',
    operationId: 'GetAccess',
    summary: 'Get what the token opens',
    description: 'This operation tells what the token of the connection opens, as a test of the connection.',
    visibility: 'internal',
    parameters: {},
    success: '200',
  },
  {
    source: 'deleteSubscription',
    operationId: 'DeleteSubscription',
    summary: 'Remove a subscription',
    description:
      'This operation removes the subscription of a flow that is switched off, changed or deleted.',
    visibility: 'internal',
    parameters: { account: {}, id: { title: 'Subscription' } },
    success: '204',
  },
];
