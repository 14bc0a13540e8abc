package penstock.connect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.provider.ConfigProvider;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.services.secretsmanager.SecretsManagerClient;

/**
 * Reads values of connectors from Secrets Manager, with the role of the worker.
 *
 * <p>{@code ${secret:films:password}} is the field {@code password} of the JSON object in the secret
 * {@code films}: its name, since Kafka Connect splits at colons, which ARNs have.
 */
public final class SecretConfigProvider implements ConfigProvider {
    private static final ObjectMapper JSON = new ObjectMapper();
    private SecretsManagerClient secrets;

    @Override
    public void configure(Map<String, ?> settings) {
        secrets = SecretsManagerClient.builder().httpClient(UrlConnectionHttpClient.create()).build();
    }

    @Override
    public ConfigData get(String name) {
        Map<String, String> values = new HashMap<>();
        read(name).fields().forEachRemaining(each -> values.put(each.getKey(), each.getValue().asText()));
        return new ConfigData(values);
    }

    @Override
    public ConfigData get(String name, Set<String> fields) {
        JsonNode secret = read(name);
        Map<String, String> values = new HashMap<>();
        for (String field : fields) {
            if (!secret.hasNonNull(field)) {
                throw new ConfigException("the secret " + name + " has no field " + field
                    + "; expected a JSON object with it");
            }
            values.put(field, secret.get(field).asText());
        }
        return new ConfigData(values);
    }

    @Override
    public void close() {
        if (secrets != null) {
            secrets.close();
        }
    }

    private JsonNode read(String name) {
        try {
            return JSON.readTree(secrets.getSecretValue(each -> each.secretId(name)).secretString());
        } catch (IOException error) {
            throw new ConfigException("the secret " + name + " is no JSON object");
        }
    }
}
