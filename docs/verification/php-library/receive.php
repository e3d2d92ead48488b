<?php
// composer require standard-webhooks/standard-webhooks
declare(strict_types=1);

use StandardWebhooks\Webhook;

/**
 * The event of a callback; throws WebhookVerificationException. $body is as received, header names are in lower case.
 * Half of a surrogate pair (`\ud83d`), which json_decode refuses, becomes U+FFFD.
 */
function receive(array $headers, string $body): array
{
    $secret = (string) getenv('WEBHOOK_SECRET');
    if (!str_starts_with($secret, 'whsec_') || strlen($secret) < 38) {
        throw new RuntimeException('WEBHOOK_SECRET is not set to a secret');
    }
    $verified = (new Webhook($secret))->verify($body, $headers);
    return $verified ?? json_decode(withoutHalfPairs($body), true, flags: JSON_THROW_ON_ERROR);
}

function withoutHalfPairs(string $json): string
{
    $pairOrHalf = '/\\\\\\\\|\\\\u[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\\\u[dD][89a-fA-F][0-9a-fA-F]{2})/';
    return preg_replace_callback($pairOrHalf, fn (array $m) => isset($m[1]) ? '\\ufffd' : $m[0], $json);
}
