import type { INodeProperties } from 'n8n-workflow';

/** The fields of the trigger: which events start the workflow, and how they are acknowledged. */
export const triggerFields: INodeProperties[] = [
  {
    displayName: 'Event Type Names or IDs',
    name: 'eventTypes',
    type: 'multiOptions',
    typeOptions: { loadOptionsMethod: 'getEventTypes' },
    default: ['filing.*'],
    required: true,
    description:
      'Events that start the workflow. To get everything that ends in a status, take "Every event of filings" and choose the status below. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
  },
  {
    displayName: 'Status Names or IDs',
    name: 'statuses',
    type: 'multiOptions',
    typeOptions: { loadOptionsMethod: 'getStatuses' },
    default: [],
    description:
      'Only events after which the filing has one of these statuses; none chosen means all. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
  },
  {
    displayName: 'Acknowledge',
    name: 'acknowledge',
    type: 'options',
    options: [
      {
        name: 'When the Event Is Received',
        value: 'onReceived',
        description: 'At once. What fails in the workflow afterwards is seen in n8n only.',
      },
      {
        name: 'When the Workflow Has Finished',
        value: 'lastNode',
        description:
          'An event whose workflow failed, or that n8n was stopped at, is delivered again. The workflow has to finish within 50 seconds.',
      },
    ],
    default: 'onReceived',
    description: 'When filing-webhooks is told that the event has arrived',
  },
  {
    displayName: 'Options',
    name: 'options',
    type: 'collection',
    placeholder: 'Add option',
    default: {},
    options: [
      {
        displayName: 'At Once',
        name: 'maxInFlight',
        type: 'number',
        typeOptions: { minValue: 1 },
        default: 1,
        description:
          'Maximum number of events that are delivered at the same time; 1 for one after the other',
      },
      {
        displayName: 'Filter',
        name: 'filter',
        type: 'string',
        default: '',
        placeholder: 'filing.premium > 10000',
        description: 'Expression (CEL) on the event; an event on which it cannot decide is delivered',
      },
      {
        displayName: 'Payload',
        name: 'payload',
        type: 'options',
        options: [
          { name: 'With the Filing', value: 'full', description: 'The filing as the partner service has it' },
          { name: 'Without the Filing', value: 'thin', description: 'Leave data.filing out' },
        ],
        default: 'full',
        description: 'What the events carry',
      },
      {
        displayName: 'Repeated Events',
        name: 'repeats',
        type: 'options',
        options: [
          { name: 'Drop', value: 'drop', description: 'Acknowledge, and start nothing' },
          { name: 'Start the Workflow', value: 'run', description: 'Useful while events are replayed' },
        ],
        default: 'drop',
        description: 'What happens with an event that the workflow has got before',
      },
      {
        displayName: 'Stale Events',
        name: 'stale',
        type: 'options',
        options: [
          { name: 'Start the Workflow', value: 'run', description: 'With stale: true in the item' },
          { name: 'Drop', value: 'drop', description: 'Acknowledge, and start nothing' },
        ],
        default: 'run',
        description: 'What happens with an event that is older than the last one of its filing',
      },
      {
        displayName: 'Start With',
        name: 'from',
        type: 'options',
        options: [
          {
            name: 'Changes From Now On',
            value: 'now',
            description: 'Nothing that happened before the workflow was published',
          },
          {
            name: 'Everything in the Log',
            value: 'earliest',
            description:
              'First all events that filing-webhooks still has, 30 days of them unless set otherwise',
          },
          {
            name: 'The State of All Filings',
            value: 'state',
            description: 'First each filing as it is, once, as filing.snapshot',
          },
        ],
        default: 'now',
        description: 'What the workflow gets first when it is published',
      },
      {
        displayName: 'States',
        name: 'states',
        type: 'string',
        default: '',
        placeholder: 'TX, CA',
        description: 'Only filings of these states, by their abbreviations with commas between',
      },
      {
        displayName: 'When Unpublished',
        name: 'unpublished',
        type: 'options',
        options: [
          {
            name: 'Keep the Place',
            value: 'keep',
            description:
              'The subscription is disabled. Publishing again delivers what was missed, as far as filing-webhooks still has it.',
          },
          {
            name: 'Remove the Subscription',
            value: 'remove',
            description:
              'Publishing again, and also publishing a changed trigger, starts anew: what was waiting is lost',
          },
        ],
        default: 'keep',
        description: 'What becomes of the subscription when the workflow is unpublished',
      },
    ],
  },
];
