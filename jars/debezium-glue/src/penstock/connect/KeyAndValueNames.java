package penstock.connect;

import com.amazonaws.services.schemaregistry.common.AWSSchemaNamingStrategy;

/**
 * Names the schemas of a topic TOPIC-key and TOPIC-value.
 *
 * <p>By default AWS's converter gives both the name of the topic, so each would be a version of the other.
 */
public final class KeyAndValueNames implements AWSSchemaNamingStrategy {
    @Override
    public String getSchemaName(String topic, Object data, boolean isKey) {
        return topic + (isKey ? "-key" : "-value");
    }

    @Override
    public String getSchemaName(String topic) {
        return getSchemaName(topic, null, false);
    }
}
