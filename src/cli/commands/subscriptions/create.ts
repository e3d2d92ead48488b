import { apiOptions, createApiClient } from '../../daemon/api-client.ts';
import { exitCodes } from '../../cli-error.ts';
import { onlyArgument, type Command } from '../../command.ts';
import { formatFields } from '../../table.ts';
import { endpointOptions, endpointSettingsOf } from './endpoint-settings.ts';
import { settingOptions, settingsOf } from './settings.ts';

/** `subscriptions create`: registers an endpoint. Its secret is printed once. */
export const createSubscription: Command = {
  name: 'subscriptions create',
  summary: 'register an endpoint; its secret is shown once',
  usage: 'ENDPOINT',
  options: {
    ...settingOptions,
    ...endpointOptions,
    disabled: { text: 'deliver nothing until it is enabled' },
    json: { text: 'the answer as a JSON object' },
    ...apiOptions,
  },
  examples: [
    'filing-webhooks subscriptions create https://hooks.example.com/filings --statuses REJECTED --description Rejections',
    'filing-webhooks subscriptions create https://hooks.slack.com/services/… --format slack --statuses REJECTED',
    'filing-webhooks subscriptions create https://hooks.example.com/filings --tls-cert-file client.pem --tls-key-file client.key --rate 5',
    'filing-webhooks subscriptions create https://hooks.example.com/filings --auth-token-url https://login.example.com/oauth2/token --auth-client-id filings --auth-client-secret-file secret.txt',
  ],
  async run(input, context) {
    const url = onlyArgument(input, 'ENDPOINT');
    const settings = { ...settingsOf(input, context.env), ...(await endpointSettingsOf(input, context)) };
    const body = { url, ...settings, ...(input.flag('disabled') ? { enabled: false } : {}) };
    const client = createApiClient(input, context);
    const made = await client.post<Record<string, unknown>>('/subscriptions', body);
    context.out(input.flag('json') ? JSON.stringify(made, null, 2) : formatFields(made));
    if (made['secret'] === null)
      context.note('There is no secret: the receiver verifies with the public keys.');
    else if (!('secret' in settings)) context.note('The secret is shown only now: give it to the receiver.');
    return exitCodes.ok;
  },
};

/** `subscriptions update`: changes the settings that are given. */
export const updateSubscription: Command = {
  name: 'subscriptions update',
  summary: 'change settings of a subscription; those that are not given stay',
  usage: 'ID',
  options: {
    endpoint: { value: 'URL', text: 'where callbacks go' },
    ...settingOptions,
    ...endpointOptions,
    json: { text: 'the answer as a JSON object' },
    ...apiOptions,
  },
  examples: [
    'filing-webhooks subscriptions update sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506 --statuses REJECTED,PENDING',
    'filing-webhooks subscriptions update sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506 --states all --endpoint https://hooks.example.com/v2',
  ],
  async run(input, context) {
    const id = onlyArgument(input, 'ID');
    const endpoint = input.text('endpoint');
    const body = {
      ...(endpoint === null ? {} : { url: endpoint }),
      ...settingsOf(input),
      ...(await endpointSettingsOf(input, context)),
    };
    const client = createApiClient(input, context);
    const path = `/subscriptions/${encodeURIComponent(id)}`;
    const changed = await client.send<Record<string, unknown>>('PATCH', path, body);
    context.out(input.flag('json') ? JSON.stringify(changed, null, 2) : formatFields(changed));
    return exitCodes.ok;
  },
};
