import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes one record as a Java client that logs in by IAM: java Produce.java SERVERS CA TOPIC MECHANISM. */
class Produce {
    public static void main(String[] args) throws InterruptedException {
        String mechanism = args[3];
        boolean token = mechanism.equals("OAUTHBEARER");
        String iam = "software.amazon.msk.auth.iam.";
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", args[0]);
        settings.put("security.protocol", "SASL_SSL");
        settings.put("ssl.truststore.type", "PEM");
        settings.put("ssl.truststore.location", args[1]);
        settings.put("max.block.ms", 60_000);
        settings.put("sasl.mechanism", mechanism);
        settings.put(
                "sasl.jaas.config",
                token
                        ? "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"
                        : iam + "IAMLoginModule required;");
        String handler = iam + (token ? "IAMOAuthBearerLoginCallbackHandler" : "IAMClientCallbackHandler");
        settings.put("sasl.client.callback.handler.class", handler);
        if (token) {
            settings.put("sasl.login.callback.handler.class", handler);
        }
        StringSerializer text = new StringSerializer();
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, text, text)) {
            producer.send(new ProducerRecord<>(args[2], "from java by " + mechanism)).get();
            System.out.println("written");
        } catch (ExecutionException | KafkaException failed) { // KafkaException: refused before the send
            Throwable reason = failed.getCause() == null ? failed : failed.getCause();
            System.out.println("refused: " + reason.getMessage());
        }
    }
}
