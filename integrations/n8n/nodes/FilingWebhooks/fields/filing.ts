import type { INodeProperties } from 'n8n-workflow';
import { filingIdField, limitFields, shownFor, stateFilter } from './shared';

/** The fields of the resource "filing". */
export const filingFields: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['filing'] } },
    options: [
      {
        name: 'Get',
        value: 'get',
        description: 'Read a filing as last seen, with its events',
        action: 'Get a filing',
      },
      {
        name: 'Get Many',
        value: 'getAll',
        description: 'Read filings as last seen',
        action: 'Get many filings',
      },
      {
        name: 'Search',
        value: 'search',
        description: "Find filings by policy number, insured's name or ID",
        action: 'Search for filings',
      },
    ],
    default: 'getAll',
  },
  filingIdField('filing', ['get']),
  {
    displayName: 'Search For',
    name: 'query',
    type: 'string',
    default: '',
    required: true,
    placeholder: 'bluebonnet roofing',
    description: "Words that the policy number, the insured's name or the ID has, in any case",
    displayOptions: shownFor('filing', ['search']),
  },
  ...limitFields('filing', ['getAll', 'search']),
  {
    displayName: 'Filters',
    name: 'filters',
    type: 'collection',
    placeholder: 'Add filter',
    default: {},
    displayOptions: shownFor('filing', ['getAll', 'search']),
    options: [
      {
        displayName: 'Order',
        name: 'order',
        type: 'options',
        options: [
          { name: 'By ID', value: 'id' },
          { name: 'Newest in Their Status First', value: 'newest' },
          { name: 'Oldest in Their Status First', value: 'oldest' },
        ],
        default: 'newest',
        description: 'Oldest and newest need a status other than COMPLETED, a state or a search',
      },
      stateFilter,
      {
        displayName: 'Status Names or IDs',
        name: 'statuses',
        type: 'multiOptions',
        typeOptions: { loadOptionsMethod: 'getStatuses' },
        default: [],
        description:
          'Only filings in one of these statuses. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
      },
    ],
  },
];
