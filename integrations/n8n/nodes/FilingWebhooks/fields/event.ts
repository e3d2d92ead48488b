import type { INodeProperties } from 'n8n-workflow';
import { limitFields, shownFor } from './shared';

/** The fields of the resource "event". */
export const eventFields: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['event'] } },
    options: [
      { name: 'Get', value: 'get', description: 'Read one event', action: 'Get an event' },
      {
        name: 'Get Many',
        value: 'getAll',
        description: 'Read the log of events',
        action: 'Get many events',
      },
    ],
    default: 'getAll',
  },
  {
    displayName: 'Event ID',
    name: 'eventId',
    type: 'string',
    default: '',
    required: true,
    description: 'The webhook-ID of the event',
    displayOptions: shownFor('event', ['get']),
  },
  ...limitFields('event', ['getAll']),
  {
    displayName: 'Order',
    name: 'order',
    type: 'options',
    options: [
      { name: 'Newest First', value: 'newest' },
      { name: 'Oldest First', value: 'oldest' },
    ],
    default: 'newest',
    displayOptions: shownFor('event', ['getAll']),
  },
  {
    displayName: 'Filters',
    name: 'filters',
    type: 'collection',
    placeholder: 'Add filter',
    default: {},
    displayOptions: shownFor('event', ['getAll']),
    options: [
      {
        displayName: 'After',
        name: 'after',
        type: 'dateTime',
        default: '',
        description: 'Only events recorded at this time or later',
      },
      {
        displayName: 'Before',
        name: 'before',
        type: 'dateTime',
        default: '',
        description: 'Only events recorded earlier than this time',
      },
      {
        displayName: 'Event Type Names or IDs',
        name: 'types',
        type: 'multiOptions',
        typeOptions: { loadOptionsMethod: 'getEventTypes' },
        default: [],
        description:
          'Only events of these types. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
      },
      {
        displayName: 'Filing ID',
        name: 'filingId',
        type: 'string',
        default: '',
        description: 'Only events of this filing',
      },
    ],
  },
];
