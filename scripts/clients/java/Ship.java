/** Logs the lines of standard input through SLF4J: which appender ships them is the configuration's. */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.slf4j.LoggerFactory;

public class Ship {
  public static void main(String[] args) throws Exception {
    var logger = LoggerFactory.getLogger("shop");
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = input.readLine()) != null; ) logger.info(line);
    var factory = LoggerFactory.getILoggerFactory();
    if (factory.getClass().getName().startsWith("ch.qos.logback")) {
      // Sends the lines that wait.
      factory.getClass().getMethod("stop").invoke(factory);
    } else {
      // Drops the lines that wait, so their batch goes first: after batchWait, five seconds.
      Thread.sleep(10_000);
      Class.forName("org.apache.logging.log4j.LogManager").getMethod("shutdown").invoke(null);
    }
  }
}
