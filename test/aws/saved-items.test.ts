import { savedItemsContract } from '../catalog/saved-items.contract.ts';
import { DYNAMODB_PLACES, newName, openTable } from './support/places.ts';

for (const { name, endpoint } of DYNAMODB_PLACES) {
  savedItemsContract(`DynamoDB on ${name}`, async clock => {
    const tableName = newName();
    const opened = [await openTable(endpoint, tableName, clock)];
    return {
      table: opened[0].port,
      another: async () => {
        opened.push(await openTable(endpoint, tableName, clock));
        return opened.at(-1)!.port;
      },
      close: async () => {
        for (const one of opened) one.close();
      },
    };
  });
}
