// Sends with the official Java client: one message, one one-way message, then 100 messages. Exit status 0 only when
// every acknowledged send was SEND_OK.
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;

public class JavaSend {
    private static final int MESSAGES = 100;
    private static final int TIMEOUT_MILLIS = 5_000;

    public static void main(String[] args) {
        if (args.length != 2) {
            System.err.println("usage: JavaSend NAME_SERVER TOPIC");
            System.exit(2);
        }
        // Not the end of main: the client's threads would keep the process alive after a failed start.
        System.exit(run(args[0], args[1]));
    }

    private static int run(String nameServer, String topic) {
        DefaultMQProducer producer = new DefaultMQProducer("java-send");
        producer.setNamesrvAddr(nameServer);
        producer.setSendMsgTimeout(TIMEOUT_MILLIS);
        // A second attempt would hide that the first one failed.
        producer.setRetryTimesWhenSendFailed(0);
        String doing = "start";
        try {
            producer.start();
            Map<SendStatus, Integer> statuses = new EnumMap<>(SendStatus.class);

            doing = "sync send";
            SendResult first = producer.send(message(topic, "sync"));
            statuses.merge(first.getSendStatus(), 1, Integer::sum);
            System.out.println("sync: " + first.getSendStatus() + " " + first.getMsgId() + " " + first.getMessageQueue()
                + " offset " + first.getQueueOffset());

            doing = "one-way send";
            producer.sendOneway(message(topic, "one-way"));
            System.out.println("one-way: written");

            Map<SendStatus, Integer> many = new EnumMap<>(SendStatus.class);
            for (int i = 0; i < MESSAGES; i++) {
                doing = "send " + (i + 1) + " of " + MESSAGES;
                many.merge(producer.send(message(topic, "message-" + i)).getSendStatus(), 1, Integer::sum);
            }
            System.out.println(MESSAGES + " messages: " + many);
            many.forEach((status, count) -> statuses.merge(status, count, Integer::sum));

            int ok = statuses.getOrDefault(SendStatus.SEND_OK, 0);
            if (ok != MESSAGES + 1) {
                System.err.println("JavaSend: FAILED: not every send was SEND_OK: " + statuses);
                return 1;
            }
            System.out.println("JavaSend: " + ok + " SEND_OK, 1 one-way");
            return 0;
        } catch (Exception e) {
            System.err.println("JavaSend: FAILED: " + doing + " (topic " + topic + ", name server " + nameServer + ")");
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                System.err.println("  " + cause.getClass().getSimpleName() + ": " + firstLine(cause.getMessage()));
            }
            return 1;
        } finally {
            producer.shutdown();
        }
    }

    private static Message message(String topic, String key) {
        return new Message(topic, "java", key, ("hello from Java, " + key).getBytes(StandardCharsets.UTF_8));
    }

    private static String firstLine(String text) {
        return text == null ? "no message" : text.strip().lines().findFirst().orElse("");
    }
}
