import client.ApiClient;
import client.ApiException;
import client.api.AccountsApi;
import client.api.EventsApi;
import client.api.SubscriptionsApi;
import client.model.CreateSubscriptionInput;
import client.model.FilingRejectedEvent;
import client.model.Problem;
import client.model.PutAccountInput;
import client.model.UpdateSubscriptionInput;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A full cycle with the client that openapi-generator makes for Java: prints one line of JSON. */
public final class Cycle {
  public static void main(String[] arguments) throws Exception {
    var api = new ApiClient();
    api.updateBaseUri(System.getenv("API_URL"));
    api.setRequestInterceptor(
        request -> request.header("Authorization", "Bearer " + System.getenv("API_TOKEN")));
    var accounts = new AccountsApi(api);
    var subscriptions = new SubscriptionsApi(api);

    var account = new PutAccountInput().baseUrl(System.getenv("PARTNER_URL")).partnerKey("sandbox-key");
    var saved = accounts.putAccount("made-in-java", account);

    var wanted =
        new CreateSubscriptionInput()
            .url("https://example.com/java")
            .eventTypes(List.of(CreateSubscriptionInput.EventTypesEnum.FILING_REJECTED))
            .enabled(false);
    var made = subscriptions.createSubscription("default", wanted, null);
    var listed = subscriptions.listSubscriptions("default", null, null);
    var change = new UpdateSubscriptionInput().description("changed");
    var changed = subscriptions.updateSubscription("default", made.getId(), change);

    var rejections = new ArrayList<String>();
    var page =
        new EventsApi(api).listEvents("default", null, null, "filing.rejected", null, null, null, null);
    for (var event : page.getItems())
      if (event.getActualInstance() instanceof FilingRejectedEvent rejected)
        rejections.add(rejected.getData().getRejectionReason());

    List<Object> error = null;
    try {
      subscriptions.getSubscription("default", "sub_00000000000000000000000000000000");
    } catch (ApiException failure) {
      var problem = api.getObjectMapper().readValue(failure.getResponseBody(), Problem.class);
      error = List.of(failure.getCode(), problem.getCode());
    }

    Map<String, Object> said = new LinkedHashMap<>();
    said.put("account", saved.getAccount());
    said.put("hasSecret", made.getSecret() != null);
    said.put("isListed", listed.getItems().stream().anyMatch(one -> one.getId().equals(made.getId())));
    said.put("description", changed.getDescription());
    said.put("rejections", rejections);
    said.put("error", error);
    System.out.println(api.getObjectMapper().writeValueAsString(said));
  }
}
