// dotnet add package StandardWebhooks.StandardWebhooks
using System;
using System.Net;
using StandardWebhooks;

public static class Receiver
{
    /// <summary>Throws WebhookVerificationException unless the callback is genuine; body is the text of the bytes as received.</summary>
    public static void Verify(string id, string timestamp, string signature, string body)
    {
        var headers = new WebHeaderCollection
        {
            { "webhook-id", id },
            { "webhook-timestamp", timestamp },
            { "webhook-signature", signature },
        };
        new Webhook(Environment.GetEnvironmentVariable("WEBHOOK_SECRET")).Verify(body, headers);
    }
}
