/** Export of closed days, if a setting names its destination. */
import { describe, expect, test } from '@jest/globals';
import { ENTRIES_FOLDER } from '../../functions/export-days-handler.ts';
import { EntryTable } from '../../shared/server/open-data/entry-table.ts';
import { parquetFile } from '../../shared/server/open-data/parquet-file.ts';
import { schemaOf } from '../http/parquet-read.ts';
import { type Built, functionOfId, idIn } from './build.ts';

const DESTINATION = 's3://lake/logs/prod';

export function exportTests(built: () => Built): void {
  describe('the export of closed days', () => {
    const assembly = () => built().assemblies.lake;

    test('is not in a stack whose settings name no destination', () => {
      for (const [name, { resources }] of Object.entries(built().assemblies)) {
        const ids = Object.keys(resources).filter(id => id.startsWith('Export'));
        expect([name, ids.length > 0]).toEqual([name, name === 'lake']);
      }
    });

    test('runs every hour, and failed calls go to the queue', () => {
      const [[id, { Properties }]] = assembly()
        .ofType('AWS::Lambda::Function')
        .filter(([each]) => functionOfId(each) === 'export-days');
      expect(Properties).toMatchObject({ MemorySize: 3008, Timeout: 900 });
      expect(Properties.Environment.Variables).toMatchObject({ LOGBOOM_EXPORT_TO: DESTINATION });
      const schedules = assembly()
        .ofType('AWS::Scheduler::Schedule')
        .filter(([, one]) => idIn(one.Properties.Target.Arn) === id);
      expect(schedules.map(([, one]) => one.Properties.ScheduleExpression)).toEqual(['rate(60 minutes)']);
      const [[, config]] = assembly()
        .ofType('AWS::Lambda::EventInvokeConfig')
        .filter(([, one]) => idIn(one.Properties.FunctionName) === id);
      expect(config.Properties.MaximumRetryAttempts).toBe(0);
    });

    test('has a table over the folder that the function writes, with the columns of its files', async () => {
      const [[, { Properties: database }]] = assembly().ofType('AWS::Glue::Database');
      const [[, { Properties: table, DependsOn }]] = assembly().ofType('AWS::Glue::Table');
      expect(database.DatabaseInput.Name).toBe('log_lake');
      expect(table.DatabaseName).toBe('log_lake');
      expect(DependsOn).toHaveLength(1);
      const { Name, PartitionKeys, Parameters, StorageDescriptor } = table.TableInput;
      expect(Name).toBe('entries');
      expect(PartitionKeys.map((key: { Name: string }) => key.Name)).toEqual(['tenant', 'day']);
      expect(StorageDescriptor.Location).toBe(`${DESTINATION}/${ENTRIES_FOLDER}/`);
      expect(Parameters).toMatchObject({
        'projection.enabled': 'true',
        'projection.tenant.type': 'injected',
        'projection.day.format': 'yyyy-MM-dd',
        'storage.location.template': `${DESTINATION}/${ENTRIES_FOLDER}/tenant=\${tenant}/day=\${day}`,
      });
      const entries = new EntryTable();
      entries.add(1n, 'no fields', { labels: {}, metadata: {} });
      const inFiles = schemaOf(await parquetFile(entries))
        .map(element => element.split(' ')[1])
        .filter(path => !path.includes('.'));
      expect(StorageDescriptor.Columns.map((column: { Name: string }) => column.Name)).toEqual(inFiles);
    });
  });
}
