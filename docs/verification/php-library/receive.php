<?php
// composer require standard-webhooks/standard-webhooks
declare(strict_types=1);

use StandardWebhooks\Webhook;

/** The event of a callback; throws WebhookVerificationException. $body is as received, header names are in lower case. */
function receive(array $headers, string $body): array
{
    return (new Webhook(getenv('WEBHOOK_SECRET')))->verify($body, $headers);
}
