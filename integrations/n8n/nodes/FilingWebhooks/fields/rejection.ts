import type { INodeProperties } from 'n8n-workflow';
import { filingIdField, limitFields, shownFor, stateFilter } from './shared';

/** The fields of the resource "rejection": the board of what is rejected now. */
export const rejectionFields: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['rejection'] } },
    options: [
      {
        name: 'Get Many',
        value: 'getAll',
        description: 'Read the filings that are rejected now',
        action: 'Get many rejections',
      },
      {
        name: 'Get Summary',
        value: 'getSummary',
        description: 'Count the rejections by reason and by state',
        action: 'Get a summary of rejections',
      },
      {
        name: 'Mark as Seen',
        value: 'markSeen',
        description: 'Note who has seen a rejection and what is done about it',
        action: 'Mark a rejection as seen',
      },
      {
        name: 'Mark as Unseen',
        value: 'markUnseen',
        description: 'Take that note back',
        action: 'Mark a rejection as unseen',
      },
    ],
    default: 'getAll',
  },
  filingIdField('rejection', ['markSeen', 'markUnseen']),
  {
    displayName: 'Seen By',
    name: 'by',
    type: 'string',
    default: '',
    required: true,
    description: 'Who has seen the rejection',
    displayOptions: shownFor('rejection', ['markSeen']),
  },
  {
    displayName: 'Note',
    name: 'note',
    type: 'string',
    default: '',
    description: 'What is done about it',
    displayOptions: shownFor('rejection', ['markSeen']),
  },
  ...limitFields('rejection', ['getAll']),
  {
    displayName: 'Order',
    name: 'order',
    type: 'options',
    options: [
      { name: 'Newest First', value: 'newest' },
      { name: 'Oldest First', value: 'oldest' },
    ],
    default: 'oldest',
    displayOptions: shownFor('rejection', ['getAll']),
  },
  {
    displayName: 'Filters',
    name: 'filters',
    type: 'collection',
    placeholder: 'Add filter',
    default: {},
    displayOptions: shownFor('rejection', ['getAll']),
    options: [
      {
        displayName: 'Reason',
        name: 'reason',
        type: 'string',
        default: '',
        description: 'Only rejections with this reason, as the summary has it, in any case',
      },
      {
        displayName: 'Seen',
        name: 'seen',
        type: 'options',
        options: [
          { name: 'Nobody Has Seen It', value: 'false' },
          { name: 'Somebody Has Seen It', value: 'true' },
        ],
        default: 'false',
        description: 'Only rejections that somebody has seen, or nobody',
      },
      stateFilter,
    ],
  },
];
