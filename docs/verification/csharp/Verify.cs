// dotnet run -- HEADERS_FILE BODY_FILE, with the secret in WEBHOOK_SECRET
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

public static class Verify
{
    private const int ToleranceSeconds = 5 * 60;

    /// <summary>Throws unless body (the bytes as received) was signed with secret just now.</summary>
    public static void Callback(string secret, IDictionary<string, string> headers, byte[] body)
    {
        headers.TryGetValue("webhook-id", out string id);
        headers.TryGetValue("webhook-timestamp", out string timestamp);
        headers.TryGetValue("webhook-signature", out string signatures);
        if (string.IsNullOrEmpty(id) || !Regex.IsMatch(timestamp ?? "", @"\A[0-9]{1,12}\z"))
            throw new CryptographicException("a webhook header is missing or malformed");
        if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - long.Parse(timestamp)) > ToleranceSeconds)
            throw new CryptographicException("the timestamp is more than five minutes away");
        byte[] expected = Encoding.ASCII.GetBytes(Sign(secret, id + "." + timestamp + ".", body));
        // During a rotation there are several signatures, one for each secret.
        if (!(signatures ?? "").Split(' ').Any(given =>
                CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(given), expected)))
            throw new CryptographicException("no signature matches");
    }

    private static string Sign(string secret, string head, byte[] body)
    {
        byte[] key = Convert.FromBase64String(secret.StartsWith("whsec_", StringComparison.Ordinal) ? secret.Substring(6) : secret);
        if (key.Length < 24) throw new CryptographicException("the secret is not whsec_ and base64");
        using (var hmac = new HMACSHA256(key))
            return "v1," + Convert.ToBase64String(hmac.ComputeHash(Encoding.UTF8.GetBytes(head).Concat(body).ToArray()));
    }

    private static Dictionary<string, string> ReadHeaders(string file)
    {
        var headers = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);
        foreach (string line in File.ReadAllLines(file).Where(line => line.Contains(":")))
            headers[line.Substring(0, line.IndexOf(':'))] = line.Substring(line.IndexOf(':') + 1).Trim();
        return headers;
    }

    public static int Main(string[] args)
    {
        try
        {
            string secret = Environment.GetEnvironmentVariable("WEBHOOK_SECRET") ?? "";
            Callback(secret, ReadHeaders(args[0]), File.ReadAllBytes(args[1]));
        }
        catch (Exception error) when (error is CryptographicException || error is FormatException)
        {
            Console.Error.WriteLine("refused: " + error.Message);
            return 1;
        }
        Console.WriteLine("ok");
        return 0;
    }
}
