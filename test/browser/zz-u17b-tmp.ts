import { startStore } from '../end-to-end/support/store.ts';
import { pushShop } from './support/shop.ts';
const store = await startStore(`auth_enabled: false\nlimits_config: { reject_old_samples: false, allow_structured_metadata: true, volume_enabled: true }\n`);
await pushShop(store, Date.now());
for (const q of ['{namespace="shop"} |= "declined"','{namespace="shop"} |= "declined"','{service_name="worker"}','sum(count_over_time({namespace="shop"}[1m]))']) {
  const r = await fetch(`${store.url}/svc/api/v1/query_range?${new URLSearchParams({query:q,explain:'true',limit:'1000', step:'60'})}`);
  const j = await r.json() as any;
  console.log(q, JSON.stringify(j.data.explain), JSON.stringify(j.data.stats.store), JSON.stringify(j.data.stats.summary));
}
await store.stop();
