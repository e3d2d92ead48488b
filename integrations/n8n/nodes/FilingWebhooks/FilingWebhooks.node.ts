import {
  NodeConnectionTypes,
  NodeOperationError,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
} from 'n8n-workflow';
import { getEventTypes, getStatuses, getSubscriptions } from './choices';
import { eventFields } from './fields/event';
import { filingFields } from './fields/filing';
import { rejectionFields } from './fields/rejection';
import { subscriptionFields } from './fields/subscription';
import { operations } from './operations';

/** Reads filings, events and rejections, and delivers events again. */
export class FilingWebhooks implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Filing Webhooks',
    name: 'filingWebhooks',
    icon: {
      light: 'file:../../icons/filing-webhooks.svg',
      dark: 'file:../../icons/filing-webhooks.dark.svg',
    },
    group: ['transform'],
    version: 1,
    subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
    description: 'Read filings, events and rejections, and deliver events again',
    defaults: { name: 'Filing Webhooks' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'filingWebhooksApi', required: true }],
    properties: [
      {
        displayName: 'Resource',
        name: 'resource',
        type: 'options',
        noDataExpression: true,
        options: [
          { name: 'Event', value: 'event' },
          { name: 'Filing', value: 'filing' },
          { name: 'Rejection', value: 'rejection' },
          { name: 'Subscription', value: 'subscription' },
        ],
        default: 'filing',
      },
      ...eventFields,
      ...filingFields,
      ...rejectionFields,
      ...subscriptionFields,
    ],
  };

  methods = { loadOptions: { getEventTypes, getStatuses, getSubscriptions } };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const output: INodeExecutionData[] = [];
    for (let item = 0; item < this.getInputData().length; item += 1) {
      const resource = this.getNodeParameter('resource', item) as string;
      const name = this.getNodeParameter('operation', item) as string;
      const operation = operations[resource]?.[name];
      if (operation === undefined)
        throw new NodeOperationError(this.getNode(), `There is no operation ${name} of ${resource}`, {
          itemIndex: item,
        });
      try {
        const found = await operation.call(this, item);
        output.push(...found.map((json) => ({ json, pairedItem: { item } })));
      } catch (error) {
        if (!this.continueOnFail())
          throw new NodeOperationError(this.getNode(), error as Error, {
            itemIndex: item,
            description: (error as { description?: string }).description ?? '',
          });
        output.push({ json: { error: (error as Error).message }, pairedItem: { item } });
      }
    }
    return [output];
  }
}
