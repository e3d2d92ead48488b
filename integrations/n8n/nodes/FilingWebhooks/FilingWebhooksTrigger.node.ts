import {
  NodeApiError,
  NodeConnectionTypes,
  NodeOperationError,
  type IDataObject,
  type IHookFunctions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  type JsonObject,
} from 'n8n-workflow';
import { takeCallback } from './callback';
import { getEventTypes, getStatuses } from './choices';
import {
  adopt,
  keepPlace,
  readSubscription,
  renew,
  settingsFor,
  subscribe,
  testExpiry,
  unsubscribe,
  writeSubscription,
} from './subscription';
import { triggerFields } from './trigger-fields';

/** Starts a workflow with each change of a filing that its subscription delivers. */
export class FilingWebhooksTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Filing Webhooks Trigger',
    name: 'filingWebhooksTrigger',
    icon: {
      light: 'file:../../icons/filing-webhooks.svg',
      dark: 'file:../../icons/filing-webhooks.dark.svg',
    },
    group: ['trigger'],
    version: 1,
    subtitle:
      '={{ ($parameter["statuses"].length ? $parameter["statuses"] : $parameter["eventTypes"]).join(", ") }}',
    description: 'Starts the workflow when a surplus-lines filing changes',
    defaults: { name: 'Filing Webhooks Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'filingWebhooksApi', required: true }],
    webhooks: [
      {
        name: 'default',
        httpMethod: 'POST',
        responseMode: '={{$parameter["acknowledge"]}}',
        responseData: 'noData',
        path: 'filing-webhooks',
      },
    ],
    properties: triggerFields,
  };

  methods = { loadOptions: { getEventTypes, getStatuses } };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const data = this.getWorkflowStaticData('node');
        const url = webhookUrl.call(this);
        const starting = this.getActivationMode() === 'init';
        try {
          const wanted = { ...settings.call(this), url };
          const known = readSubscription(data);
          if (known !== null && (await renew.call(this, known.id, wanted, !starting))) {
            writeSubscription(data, { ...known, url });
            return true;
          }
          const found = await adopt.call(this, url);
          writeSubscription(data, found);
          return found !== null && (await renew.call(this, found.id, wanted, !starting));
        } catch (error) {
          // n8n takes a failure at its start for a reason to call `delete`, which would lose the place in the log.
          if (!starting || readSubscription(data)?.url !== url)
            throw new NodeApiError(this.getNode(), error as JsonObject);
          this.logger.warn(
            `filing-webhooks could not be asked about the subscription of "${this.getNode().name}"; it is taken to be there: ${(error as Error).message}`,
          );
          return true;
        }
      },
      async create(this: IHookFunctions): Promise<boolean> {
        const options = this.getNodeParameter('options', {}) as { from?: string };
        const url = webhookUrl.call(this);
        const own = await subscribe.call(this, url, settings.call(this), options.from ?? 'now');
        writeSubscription(this.getWorkflowStaticData('node'), own);
        return true;
      },
      async delete(this: IHookFunctions): Promise<boolean> {
        const data = this.getWorkflowStaticData('node');
        const own = readSubscription(data);
        if (own === null) return true;
        // n8n also calls this for a published trigger that has changed, just before it is put into service again.
        const options = this.getNodeParameter('options', {}) as { unpublished?: string };
        if (this.getMode() !== 'manual' && options.unpublished !== 'remove') {
          await keepPlace.call(this, own.id);
          return true;
        }
        await unsubscribe.call(this, own.id);
        writeSubscription(data, null);
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    return takeCallback.call(this);
  }
}

function settings(this: IHookFunctions): IDataObject {
  const workflow = this.getWorkflow();
  const settings = settingsFor(
    {
      eventTypes: this.getNodeParameter('eventTypes', []) as string[],
      statuses: this.getNodeParameter('statuses', []) as string[],
      acknowledge: this.getNodeParameter('acknowledge', 'onReceived') as string,
      options: this.getNodeParameter('options', {}) as object,
    },
    `n8n: ${workflow.name ?? workflow.id ?? ''} (${this.getNode().name})`,
  );
  return { ...settings, expiresAt: this.getMode() === 'manual' ? testExpiry() : null };
}

function webhookUrl(this: IHookFunctions): string {
  const url = this.getNodeWebhookUrl('default');
  if (url === undefined) throw new NodeOperationError(this.getNode(), 'n8n gave the trigger no webhook URL');
  return url;
}
