import { objectStoreContract } from '../ports/object-store.contract.ts';
import { newName, openObjectStore, S3_PLACES } from './support/places.ts';

for (const { name, endpoint } of S3_PLACES) {
  objectStoreContract(
    `S3 on ${name}`,
    async () => {
      const bucket = newName();
      const opened = [await openObjectStore(endpoint, bucket)];
      return {
        store: opened[0].port,
        another: async () => {
          opened.push(await openObjectStore(endpoint, bucket));
          return opened.at(-1)!.port;
        },
        close: async () => {
          for (const one of opened) one.close();
        },
      };
    },
    { rounds: 20 },
  );
}
