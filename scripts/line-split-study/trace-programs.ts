/**
 * Small programs that fail in many ways and log it with the standard libraries of their languages. They use
 * no clock: each takes a second.
 */

export const PYTHON_TRACES = `
import ast, json, logging, random, sys, urllib.parse, uuid
random.seed(7)
kind = sys.argv[1] if len(sys.argv) > 1 else 'trace'
class Json(logging.Formatter):
    def format(self, r):
        return json.dumps({'ts': r.created, 'level': r.levelname, 'logger': r.name, 'line': r.lineno, **r.args[0]})
class Logfmt(logging.Formatter):
    def format(self, r):
        fields = {'ts': self.formatTime(r), 'level': r.levelname.lower(), 'logger': r.name, **r.args[0]}
        return ' '.join(k + '=' + (json.dumps(v) if ' ' in str(v) else str(v)) for k, v in fields.items())
handler = logging.StreamHandler(sys.stdout)
handler.setFormatter({'json': Json(), 'logfmt': Logfmt()}.get(kind, logging.Formatter('%(asctime)s %(levelname)s %(name)s: %(message)s')))
log = logging.getLogger('worker'); log.addHandler(handler); log.setLevel(logging.DEBUG)
def deep(n, f): return f() if n == 0 else deep(n - 1, f)
WAYS = [
    lambda: json.loads('{"a":' + '1,' * random.randrange(9) + '}'),
    lambda: int(uuid.UUID(int=random.getrandbits(128)).hex + 'z'),
    lambda: {}[random.randrange(10000)],
    lambda: [][random.randrange(9)],
    lambda: ast.parse('def f(x' + ')' * random.randrange(2, 9)),
    lambda: urllib.parse.urlparse('http://[' + str(random.random())),
    lambda: 'text' + random.randrange(9),
    lambda: 1 / 0,
    lambda: open('/nowhere/' + str(random.randrange(1000))),
]
for i in range(4000):
    if kind != 'trace':
        for _ in range(4):
            args = {'request': str(uuid.UUID(int=random.getrandbits(128))), 'took': round(random.expovariate(9), 4), 'status': random.choice([200, 200, 200, 404, 500]),
                'bytes': random.randrange(1 << 20), 'path': '/items/%d' % random.randrange(3000), 'peer': '10.0.%d.%d' % (random.randrange(4), random.randrange(250)),
                'retry': random.random() < .1, 'msg': random.choice(['served', 'not found', 'gave up after %d tries' % random.randrange(9)])}
            log.info('%s', args)
        continue
    try: deep(random.randrange(12), random.choice(WAYS))
    except Exception: log.exception('task %d of queue %s failed', i, random.choice('abc'))
`;

export const NODE_TRACES = String.raw`
import { readFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
let seed = 7;
const random = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
const ways = [
  () => JSON.parse('{"a":' + random(100000) + ',}'),
  () => readFileSync('/nowhere/' + random(1000)),
  () => null.property,
  () => new URL('http://[' + random(1000)),
  () => Buffer.alloc(-random(99) - 1),
  () => new Array(-1 - random(5)),
  () => decodeURIComponent('%' + random(9)),
  () => structuredClone(() => random(9)),
  () => 'x'.repeat(-random(1000) - 1),
  () => new RegExp('(' + random(10000)),
];
const deep = (n, way) => (n === 0 ? way() : deep(n - 1, way));
if (process.argv[2] === 'http') {
  const server = createServer((request, response) => response.end('x'.repeat(random(2000))));
  server.listen(0, '127.0.0.1', async () => {
    for (let i = 0; i < 300; i++) await new Promise(done => get({ port: server.address().port, host: '127.0.0.1', path: '/' + random(1000) }, r => r.resume().on('end', done)));
    server.close();
    server.closeAllConnections();
  });
} else {
  let text = '';
  for (let i = 0; i < 6000; i++) {
    try { deep(random(9), ways[random(ways.length)]); } catch (error) { text += '[' + new Date().toISOString() + '] error job=' + random(1e6) + ' ' + error.stack + '\n'; }
  }
  process.stdout.write(text);
}
`;

export const JAVA_TRACES = `
import java.util.*;
import java.util.logging.*;
class Traces {
  static Object deep(int n, int way, Random r) throws Exception {
    if (n > 0) try { return deep(n - 1, way, r); } catch (RuntimeException e) { if (n % 4 == 0) throw new Exception("step " + n + " of order " + r.nextInt(100000), e); throw e; }
    switch (way) {
      case 0: return Integer.parseInt("n" + r.nextInt());
      case 1: return new ArrayList<Integer>().get(r.nextInt(50));
      case 2: return List.of(1).iterator().next() / r.nextInt(1);
      case 3: return UUID.fromString("u" + r.nextInt());
      case 4: return java.time.LocalDate.parse("20" + r.nextInt(99));
      case 5: return new java.io.FileInputStream("/nowhere/" + r.nextInt(1000));
      case 6: return Map.of("a", 1).put("b", 2);
      default: return Integer.class.cast("text " + r.nextInt());
    }
  }
  public static void main(String[] a) {
    Logger log = Logger.getLogger("orders");
    Random r = new Random(7);
    for (int i = 0; i < 4000; i++) try { deep(r.nextInt(14), r.nextInt(8), r); } catch (Exception e) { log.log(Level.SEVERE, "order " + r.nextInt(100000) + " failed", e); }
  }
}
`;
