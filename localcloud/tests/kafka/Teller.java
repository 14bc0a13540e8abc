import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** A source connector that writes what it is told to a topic, once for each thing that it is told. */
public class Teller extends SourceConnector {
    private Map<String, String> settings;

    @Override
    public void start(Map<String, String> given) {
        settings = given;
    }

    @Override
    public Class<? extends Task> taskClass() {
        return Telling.class;
    }

    @Override
    public List<Map<String, String>> taskConfigs(int most) {
        return List.of(settings);
    }

    @Override
    public void stop() {}

    @Override
    public ConfigDef config() {
        return new ConfigDef().define("says", ConfigDef.Type.STRING, ConfigDef.Importance.HIGH, "");
    }

    @Override
    public String version() {
        return "1";
    }

    public static class Telling extends SourceTask {
        private static final Map<String, String> PLACE = Map.of("of", "teller");
        private Map<String, String> settings;
        private String said;

        @Override
        public void start(Map<String, String> given) {
            settings = given;
            if (given.get("says").isEmpty()) {
                throw new ConnectException("has nothing to say");
            }
            Map<String, Object> offset = context.offsetStorageReader().offset(PLACE);
            said = offset == null ? "" : (String) offset.get("said");
        }

        @Override
        public List<SourceRecord> poll() throws InterruptedException {
            String says = settings.get("says");
            if (says.equals(said)) {
                Thread.sleep(100);
                return null;
            }
            said = says;
            return List.of(new SourceRecord(
                PLACE, Map.of("said", says), settings.get("topic"), Schema.STRING_SCHEMA, says));
        }

        @Override
        public void stop() {}

        @Override
        public String version() {
            return "1";
        }
    }
}
