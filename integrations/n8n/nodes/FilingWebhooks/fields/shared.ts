import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';

/** Shows a field for some operations of a resource. */
export function shownFor(resource: string, operation: string[]): IDisplayOptions {
  return { show: { resource: [resource], operation } };
}

/** The fields "Return All" and "Limit" of operations that read a list. */
export function limitFields(resource: string, operation: string[]): INodeProperties[] {
  return [
    {
      displayName: 'Return All',
      name: 'returnAll',
      type: 'boolean',
      default: false,
      description: 'Whether to return all results or only up to a given limit',
      displayOptions: shownFor(resource, operation),
    },
    {
      displayName: 'Limit',
      name: 'limit',
      type: 'number',
      typeOptions: { minValue: 1 },
      default: 50,
      description: 'Max number of results to return',
      displayOptions: {
        show: { resource: [resource], operation, returnAll: [false] },
      },
    },
  ];
}

/** The field with the id of a filing. */
export function filingIdField(resource: string, operation: string[]): INodeProperties {
  return {
    displayName: 'Filing ID',
    name: 'filingId',
    type: 'string',
    default: '',
    required: true,
    description: 'ID of the filing at the partner service',
    displayOptions: shownFor(resource, operation),
  };
}

/** The field of a state in a collection of filters. */
export const stateFilter: INodeProperties = {
  displayName: 'State',
  name: 'state',
  type: 'string',
  default: '',
  placeholder: 'TX',
  description: 'Only filings of this state, by its abbreviation',
};
