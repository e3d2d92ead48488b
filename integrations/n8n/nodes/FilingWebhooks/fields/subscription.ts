import type { INodeProperties } from 'n8n-workflow';
import { limitFields, shownFor } from './shared';

/** The fields of the resource "subscription": which there are, switching them on and off, and delivering events again. */
export const subscriptionFields: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['subscription'] } },
    options: [
      {
        name: 'Disable',
        value: 'disable',
        description: 'Stop delivery; the subscription keeps its place in the log',
        action: 'Disable a subscription',
      },
      {
        name: 'Enable',
        value: 'enable',
        description: 'Resume delivery, with what was missed',
        action: 'Enable a subscription',
      },
      {
        name: 'Get Many',
        value: 'getAll',
        description: 'Read subscriptions and the state of their delivery',
        action: 'Get many subscriptions',
      },
      {
        name: 'Get Replay',
        value: 'getReplay',
        description: 'Read how far a replay has got',
        action: 'Get a replay',
      },
      {
        name: 'Replay',
        value: 'replay',
        description: 'Deliver events again, under their own IDs',
        action: 'Replay events to a subscription',
      },
    ],
    default: 'getAll',
  },
  ...limitFields('subscription', ['getAll']),
  {
    displayName: 'Replay ID',
    name: 'replayId',
    type: 'string',
    default: '',
    required: true,
    description: 'ID that "Replay" returned',
    displayOptions: shownFor('subscription', ['getReplay']),
  },
  {
    displayName: 'Subscription Name or ID',
    name: 'subscriptionId',
    type: 'options',
    typeOptions: { loadOptionsMethod: 'getSubscriptions' },
    default: '',
    required: true,
    description:
      'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
    displayOptions: shownFor('subscription', ['disable', 'enable', 'replay']),
  },
  {
    displayName: 'Only Count',
    name: 'dryRun',
    type: 'boolean',
    default: false,
    description: 'Whether to only count the events that would be delivered again',
    displayOptions: shownFor('subscription', ['replay']),
  },
  {
    displayName: 'Conditions',
    name: 'conditions',
    type: 'collection',
    placeholder: 'Add condition',
    default: {},
    description: 'Which events are delivered again; without conditions all that the subscription asks for',
    displayOptions: shownFor('subscription', ['replay']),
    options: [
      {
        displayName: 'After',
        name: 'after',
        type: 'dateTime',
        default: '',
        description: 'Events recorded at this time or later',
      },
      {
        displayName: 'Before',
        name: 'before',
        type: 'dateTime',
        default: '',
        description: 'Events recorded earlier than this time',
      },
      {
        displayName: 'Dead Letters Only',
        name: 'deadLettersOnly',
        type: 'boolean',
        default: true,
        description: 'Whether to deliver only events that were given up',
      },
      {
        displayName: 'Event IDs',
        name: 'eventIds',
        type: 'string',
        default: '',
        description: 'Only these events, by their webhook-ID, with commas between',
      },
      {
        displayName: 'Event Type Names or IDs',
        name: 'eventTypes',
        type: 'multiOptions',
        typeOptions: { loadOptionsMethod: 'getEventTypes' },
        default: [],
        description:
          'Events of these types. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
      },
      {
        displayName: 'Filing ID',
        name: 'filingId',
        type: 'string',
        default: '',
        description: 'Events of this filing',
      },
    ],
  },
];
